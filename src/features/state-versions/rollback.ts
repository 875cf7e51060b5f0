import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { StateFileError, withSerial } from '../../lib/state-file.ts'
import * as outputs from '../state-version-outputs/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { admit, announce, finalize } from './acceptance.ts'
import { makerOf } from './creation.ts'
import { inspect } from './inspection.ts'
import type { StateVersion } from './store.ts'
import * as store from './store.ts'

/**
 * Makes an earlier state the current one of a workspace that the subject has locked: by a new version of it, with a
 * serial above the current one in its bytes too, so that the engine goes on from there.
 */
export async function rollBack(ctx: Ctx, workspaceId: string, targetId: string): Promise<StateVersion> {
  await workspaces.get(ctx, { id: workspaceId }, 'state-versions:create')
  const target = await store.find(ctx.db, targetId)
  const known = await store.findCurrent(ctx.db, workspaceId)
  if (!known || target?.workspaceId !== workspaceId || !target.blobKey) throw unknownTarget()
  const serial = known.serial + 1
  const raw = await renumber(ctx, target.blobKey, serial)
  const json = target.jsonBlobKey ? await restage(ctx, await ctx.sealed.read(target.jsonBlobKey)) : undefined
  try {
    const file = await inspect(raw)
    const details = { announcedOutputs: await outputs.read(ctx, targetId), rollbackOfId: targetId }
    return await inTransaction(ctx, async (tx) => {
      await workspaces.get(tx, { id: workspaceId }, 'state-versions:create')
      const maker = makerOf(tx, workspaceId, null)
      const announced = { serial, md5: file.md5, lineage: target.lineage, force: false }
      // Going back across a change of the lineage is what a rollback may be for.
      const admitted = await admit(tx, maker, { ...announced, lineage: known.lineage }, false)
      return finalize(tx, await announce(tx, maker, announced, details), admitted, { raw, file, json })
    })
  } finally {
    await Promise.all([raw.discard(), json?.discard()])
  }
}

async function renumber(ctx: Ctx, blobKey: string, serial: number): Promise<StagedBytes> {
  const state = await text(await ctx.sealed.read(blobKey))
  try {
    return await restage(ctx, Readable.from([Buffer.from(withSerial(state, serial))], { objectMode: false }))
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error
    throw new AppError('unprocessable', `This state cannot be given another serial: ${error.message}.`, {
      cause: error,
    })
  }
}

function restage(ctx: Ctx, bytes: Readable): Promise<StagedBytes> {
  return ctx.sealed.stage(bytes, Number.POSITIVE_INFINITY)
}

function unknownTarget(): AppError {
  return new AppError('invalid', 'Rollback state version is not a state of the workspace', {
    pointer: '/data/relationships/rollback-state-version/data/id',
  })
}
