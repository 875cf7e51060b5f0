import type { StagedBytes } from '../../blobs/blob-store.ts'
import { isUploaded } from '../../blobs/files.ts'
import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { checkSlug, SlugError } from '../../lib/slug.ts'
import type { ConfigurationVersion } from './service.ts'
import * as service from './service.ts'
import { move } from './status.ts'
import * as store from './store.ts'

/** The configuration version that a signed link names; 404 when it is gone. The link is the permission. */
export async function getLinked(ctx: Ctx, id: string): Promise<ConfigurationVersion> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  return version
}

/** Takes the archive. One that no worker should unpack ends the configuration version as errored. */
export async function accept(ctx: Ctx, id: string, staged: StagedBytes): Promise<void> {
  const problem = await problemOf(staged)
  await inTransaction(ctx, async (tx) => {
    await store.hold(tx.db, id)
    const version = await getLinked(tx, id)
    if (await isUploaded(tx, version.blobKey, staged.sha256)) return
    if (version.status !== 'pending')
      throw new AppError('conflict', `The configuration version is ${version.status}; make another one.`)
    if (problem) {
      const changes = { error: 'invalid_archive', errorMessage: problem }
      await service.announce(tx, 'errored', await move(tx, version, 'errored', changes))
      return
    }
    const blobKey = `configuration-versions/${id}`
    await keep(tx.db, blobKey, staged, tx.now(), version.workspaceId)
    await service.announce(tx, 'uploaded', await move(tx, version, 'uploaded', { blobKey }))
  })
  if (problem) throw new AppError('unprocessable', problem)
}

async function problemOf(staged: StagedBytes): Promise<string | undefined> {
  try {
    await checkSlug(staged.stream(), staged.size)
    return undefined
  } catch (error) {
    if (!(error instanceof SlugError)) throw error
    return `The archive of the configuration cannot be used: ${error.message}.`
  }
}
