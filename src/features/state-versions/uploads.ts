import type { StagedBytes } from '../../blobs/blob-store.ts'
import { getFile, isUploaded } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import * as workspaces from '../workspaces/service.ts'
import { admit, finalize, keepJson } from './acceptance.ts'
import { inspect } from './inspection.ts'
import type { StateVersion } from './store.ts'
import * as store from './store.ts'

/** The version that a signed link names, if it can take a file; 404 when it is gone. The link is the permission. */
export async function getExpecting(ctx: Ctx, id: string): Promise<StateVersion> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  if (version.status !== 'discarded') return version
  throw new AppError(
    'conflict',
    'The state version is discarded: a later one was saved, or the lock was taken away. Make another one.',
  )
}

/** Takes the raw state that was announced, and with it makes the version the current one. */
export async function acceptRaw(ctx: Ctx, id: string, raw: StagedBytes): Promise<void> {
  const { md5 } = await getExpecting(ctx, id)
  const file = await inspect(raw, md5)
  await inTransaction(ctx, async (tx) => {
    const version = await getExpecting(tx, id)
    if (await isUploaded(tx, version.blobKey, raw.sha256)) return
    const maker = {
      workspaceId: version.workspaceId,
      runId: version.runId,
      isRun: false,
      userId: version.createdByUserId,
      teamId: version.createdByTeamId,
    }
    // What the version was allowed when it was announced; that holds as long as the lock does.
    const admitted = await admit(tx, maker, version, true)
    const { status } = await getExpecting(tx, id)
    if (status === 'pending') await finalize(tx, id, admitted, { raw, file })
  })
}

/** Takes the same state in the form for programs, before the raw one or after it. */
export async function acceptJson(ctx: Ctx, id: string, json: StagedBytes): Promise<void> {
  const { workspaceId } = await getExpecting(ctx, id)
  await inTransaction(ctx, async (tx) => {
    // As the raw state does, which comes at the same moment.
    await workspaces.hold(tx, workspaceId)
    const version = await getExpecting(tx, id)
    if (await isUploaded(tx, version.jsonBlobKey, json.sha256)) return
    await keepJson(tx, version, json)
  })
}

/** What is known of a file of a version; 404 when it is not there. The link is the permission. */
export async function getFileOf(ctx: Ctx, id: string, which: 'blobKey' | 'jsonBlobKey') {
  const version = await store.find(ctx.db, id)
  return getFile(ctx, version?.[which] ?? null)
}

/**
 * Called when somebody unlocks a workspace. Its owner may not while a state is on its way, which clients wait for; by
 * force what has not come is given up.
 */
export async function endLock(tx: Ctx, workspaceId: string, forced: boolean): Promise<void> {
  const latest = await store.findLatest(tx.db, workspaceId)
  if (!latest) return
  if (latest.status === 'pending' && !forced)
    throw new AppError(
      'unprocessable',
      'The workspace cannot be unlocked: its latest state version is still pending. Upload the state, or force-unlock the workspace.',
    )
  await store.discardPending(tx.db, workspaceId)
  await store.settle(tx.db, workspaceId)
}
