import { authorize } from '../../auth/authorize.ts'
import type { StagedBlob } from '../../blobs/blob-store.ts'
import { getFile, isUploaded } from '../../blobs/files.ts'
import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { collectModuleFiles } from '../../lib/module-archive.ts'
import type { ModuleDescription } from '../../lib/module-description.ts'
import { checkSlug, SlugError } from '../../lib/slug.ts'
import * as audit from '../audit-trail/service.ts'
import * as modules from '../registry-modules/service.ts'
import * as quotas from '../registry-quotas/service.ts'
import { filenameOf, type VersionDetails } from './details.ts'
import { note } from './log.ts'
import { describe } from './reading.ts'
import * as store from './store.ts'
import { noteDownload } from './tally.ts'
import { refuseReuse } from './tombstones.ts'

/**
 * Lets an archive be sent that an upload link names: whoever the link was made for may still manage modules (404), and
 * there is room for it (413).
 */
export async function expect(ctx: Ctx, id: string, bytes: number | undefined): Promise<void> {
  const { module, archiveBlob } = await getLinked(ctx, id)
  await authorize(ctx, 'registry-modules:manage', module.organizationId)
  if (archiveBlob === null) await quotas.requireRoom(ctx, module.organizationId, bytes)
}

/** The version that a signed link names; 404 when it is gone. The link is the permission. */
async function getLinked(ctx: Ctx, id: string): Promise<VersionDetails> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  return { ...version, module: await modules.ownerOf(ctx, version) }
}

/**
 * Takes the archive of a version, which publishes it. Refuses one that nobody should unpack, and one that holds no
 * module; the version says why, and takes another one.
 */
export async function accept(ctx: Ctx, id: string, staged: StagedBlob): Promise<void> {
  const found = await examine(staged)
  const problem = await inTransaction(ctx, async (tx) => {
    await store.lock(tx.db, id)
    const details = await getLinked(tx, id)
    if (await isUploaded(tx, details.archiveBlob, staged.sha256)) return undefined
    if ('problem' in found) return refuseArchive(tx, details, found.problem)
    await publish(tx, details, staged, found.description)
    return undefined
  })
  if (problem) throw new AppError('unprocessable', problem)
}

async function publish(
  tx: Ctx,
  details: VersionDetails,
  staged: StagedBlob,
  description: ModuleDescription,
): Promise<void> {
  const { id, module } = details
  const now = tx.now()
  await refuseReuse(tx, details, staged.sha256)
  await quotas.claimRoom(tx, module.organizationId, staged.size)
  const key = `modules/${id}/${staged.sha256}`
  await keep(tx.db, key, staged, now)
  const warnings = JSON.stringify(description.warnings)
  await store.update(tx.db, id, {
    status: 'ok',
    error: null,
    archiveBlob: key,
    warnings,
    publishedAt: now,
    updatedAt: now,
  })
  await store.insertDescription(tx.db, id, JSON.stringify(description))
  await audit.record(tx, {
    action: 'publish',
    organizationId: module.organizationId,
    resourceType: 'registry_module_version',
    resourceId: id,
  })
  await note(tx, 'publish', await getLinked(tx, id))
}

async function refuseArchive(tx: Ctx, { id }: VersionDetails, problem: string): Promise<string> {
  const changes = { status: 'reg_ingress_failed', error: problem, updatedAt: tx.now() } as const
  await store.update(tx.db, id, changes)
  return problem
}

async function examine(
  staged: StagedBlob,
): Promise<{ description: ModuleDescription } | { problem: string }> {
  const { files, take } = collectModuleFiles()
  try {
    await checkSlug(staged.stream(), staged.size, take)
  } catch (error) {
    if (!(error instanceof SlugError)) throw error
    return { problem: `The archive is refused: ${error.message}.` }
  }
  const description = await describe(files)
  if (description) return { description }
  return {
    problem:
      'The archive is refused: there is no .tf file in its root. Pack what is in the directory of the module, ' +
      'not the directory itself.',
  }
}

/** The stored archive of a version, and what counts that it is downloaded; 404 until it is uploaded. */
export async function getArchive(ctx: Ctx, id: string) {
  const details = await getLinked(ctx, id)
  const file = await getFile(ctx, details.archiveBlob)
  return { ...file, filename: filenameOf(details), onBegin: () => noteDownload(ctx, id) }
}
