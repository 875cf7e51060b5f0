import { BlobTooLarge, type StagedBlob } from '../../blobs/blob-store.ts'
import { getFile } from '../../blobs/files.ts'
import { type Blob, keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { OutsideError } from '../../lib/outside.ts'
import { ArchiveError, checkProviderArchive } from '../../lib/provider-archive.ts'
import * as organizations from '../organizations/service.ts'
import * as quotas from '../registry-quotas/service.ts'
import { attempt, failureOf, requireListed } from './attempts.ts'
import { settingsOf } from './service.ts'
import type { FoundPackage } from './store.ts'
import * as store from './store.ts'
import * as upstream from './upstream.ts'

/**
 * The archive that a signed link names: as it was kept, or as the upstream has it if that is what was signed. The
 * link is the permission to have it, and the list of the organization that to fetch it.
 */
export async function getArchive(
  ctx: Ctx,
  id: string,
  signal: AbortSignal,
): Promise<Blob & { filename: string }> {
  const found = await store.findPackage(ctx.db, id)
  if (!found) throw notFound()
  if (found.archiveBlob === null) await fetchNow(ctx, found, signal)
  else ctx.metrics.mirrorAsked('archive', 'kept')
  const kept = await store.findPackage(ctx.db, id)
  return { ...(await getFile(ctx, kept?.archiveBlob ?? null)), filename: found.filename }
}

/** The list of digests of a version, or its signature, which a signed link names. */
export async function getFileOf(
  ctx: Ctx,
  id: string,
  which: 'shasumsBlob' | 'signatureBlob',
): Promise<Blob & { name: string }> {
  const version = await store.findVersionById(ctx.db, id)
  if (!version) throw notFound()
  const shasums = `terraform-provider-${version.name}_${version.version}_SHA256SUMS`
  const name = which === 'shasumsBlob' ? shasums : `${shasums}.sig`
  return { ...(await getFile(ctx, version[which])), name }
}

async function fetchNow(ctx: Ctx, found: FoundPackage, signal: AbortSignal): Promise<void> {
  const { organizationId, version, os, arch } = found
  const organization = await organizations.ownerOf(ctx, found)
  requireListed({ ...(await settingsOf(ctx, organizationId)), organization }, found)
  const part = `${version} ${os}_${arch}`
  await attempt(ctx, { what: 'archive', organizationId, address: found, part }, signal, (ending) =>
    fetchArchive(ctx, found, ending),
  ).catch((error: unknown) => {
    throw failureOf(error, found)
  })
}

/** Nothing is kept before its digest is the one that was signed, and its content one that clients may unpack. */
async function fetchArchive(ctx: Ctx, found: FoundPackage, signal: AbortSignal): Promise<void> {
  const { organizationId, version, filename, shasum } = found
  const { maxUploadBytes } = ctx.config
  // Whoever looked a moment before somebody else had fetched it comes here after that.
  if ((await store.findPackage(ctx.db, found.id))?.archiveBlob) return
  await quotas.requireRoom(ctx, organizationId)
  const offer = await upstream.getOffer(ctx, found, version, found, signal)
  if (offer.shasum !== shasum || offer.filename !== filename) {
    throw changed(`says ${offer.shasum} of ${offer.filename}`, found)
  }
  const archive = await upstream.openArchive(ctx, offer.archiveUrl, signal)
  try {
    if ((archive.length ?? 0) > maxUploadBytes) throw tooLarge(maxUploadBytes)
    await quotas.requireRoom(ctx, organizationId, archive.length)
    const staged = await ctx.blobs.stage(archive.pieces, maxUploadBytes).catch((error: unknown) => {
      throw error instanceof BlobTooLarge ? tooLarge(maxUploadBytes) : error
    })
    await accept(ctx, found, staged).finally(staged.discard)
  } finally {
    archive.close()
  }
}

function changed(what: string, { filename, shasum }: FoundPackage): OutsideError {
  return new OutsideError(
    'refused',
    `the upstream ${what}, but the list that was signed has ${shasum} for ${filename}. Either its author has ` +
      'replaced the release, or somebody has tampered with it',
  )
}

function tooLarge(maxBytes: number): OutsideError {
  return new OutsideError('refused', `the archive is larger than ${maxBytes} bytes (PLINTH_MAX_UPLOAD_BYTES)`)
}

async function accept(ctx: Ctx, found: FoundPackage, staged: StagedBlob): Promise<void> {
  const { id, organizationId, name, shasum } = found
  if (staged.sha256 !== shasum) throw changed(`sends bytes with SHA-256 ${staged.sha256}`, found)
  const { hash: packageHash } = await checkProviderArchive(staged.path, name).catch((error: unknown) => {
    if (!(error instanceof ArchiveError)) throw error
    throw new OutsideError('refused', `the archive is refused: ${error.message}`)
  })
  await inTransaction(ctx, async (tx) => {
    const row = await store.lockPackage(tx.db, id)
    // It was removed in the meantime, or another server was first.
    if (!row || row.archiveBlob !== null) return
    await quotas.claimRoom(tx, organizationId, staged.size)
    // Never a name again: an archive that is being removed could have it.
    const archiveBlob = `mirror/${newId('archive')}`
    await keep(tx.db, archiveBlob, staged, tx.now())
    await store.updatePackage(tx.db, id, { archiveBlob, packageHash, fetchedAt: tx.now() })
  })
  ctx.metrics.mirrored(staged.size)
}
