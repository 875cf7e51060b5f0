import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { StagedBlob } from '../../blobs/blob-store.ts'
import { getFile, isUploaded, removeFiles } from '../../blobs/files.ts'
import { keep } from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { ArchiveError, checkProviderArchive } from '../../lib/provider-archive.ts'
import * as audit from '../audit-trail/service.ts'
import type { VersionDetails } from '../registry-provider-versions/service.ts'
import * as versions from '../registry-provider-versions/service.ts'
import type { ProviderAddress } from '../registry-providers/service.ts'
import * as quotas from '../registry-quotas/service.ts'
import type { RegistryProviderPlatform } from './store.ts'
import * as store from './store.ts'

export type { RegistryProviderPlatform } from './store.ts'

/** A platform with the version it belongs to. */
export interface PlatformDetails extends RegistryProviderPlatform {
  version: VersionDetails
}

/** A platform of a version, as its address names it. */
export interface PlatformAddress extends ProviderAddress {
  version: string
  os: string
  arch: string
}

export interface PlatformAttributes {
  os: string
  arch: string
  filename: string
  shasum: string
}

export async function list(ctx: Ctx, address: ProviderAddress & { version: string }, page: PageRequest) {
  const version = await versions.get(ctx, address, address.version)
  const platforms = await store.list(ctx.db, version.id, page)
  return { ...platforms, items: platforms.items.map((platform) => ({ ...platform, version })) }
}

/** A platform, if the caller has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  address: PlatformAddress,
  permission: Permission = 'registry:read',
): Promise<PlatformDetails> {
  const version = await versions.get(ctx, address, address.version, permission)
  const platform = await store.findByTarget(ctx.db, version.id, address.os, address.arch)
  if (!platform) throw notFound()
  return { ...platform, version }
}

/**
 * Adds a platform to a version. When SHA256SUMS is there already, it has to list the file with this digest:
 * it is signed, so what it does not list can never be installed.
 */
export function create(
  ctx: Ctx,
  address: ProviderAddress & { version: string },
  attributes: PlatformAttributes,
): Promise<PlatformDetails> {
  return inTransaction(ctx, async (tx) => {
    const version = await versions.lockForPlatform(tx, address, address.version)
    const shasum = attributes.shasum.toLowerCase()
    const digests = await versions.listDigests(tx, version)
    refuse([
      ...takenViolations(version, attributes),
      ...contradictions(digests, attributes.filename, shasum),
      ...(await versions.listReuseViolations(tx, version, { ...attributes, shasum })),
    ])
    const now = tx.now()
    const platform = await store
      .insert(tx.db, {
        ...attributes,
        shasum,
        id: newId('provpltfrm'),
        versionId: version.id,
        binaryBlob: null,
        packageHash: null,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTaken)
    await recordChange(tx, 'create', version, platform)
    return { ...platform, version }
  })
}

/** Deletes a platform with its binary; links to it die with it. */
export function remove(ctx: Ctx, address: PlatformAddress): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { id, version } = await get(tx, address, 'registry-provider-versions:manage')
    await versions.lock(tx, version.id)
    const platform = await store.lock(tx.db, id)
    if (!platform) throw notFound()
    await store.remove(tx.db, id)
    await removeFiles(tx, [platform.binaryBlob])
    await recordChange(tx, 'destroy', version, platform)
    await versions.buryPlatform(tx, version, platform)
  })
}

/**
 * Lets an archive be sent that an upload link names: whoever the link was made for may still publish the provider
 * (404), and there is room for it (413).
 */
export async function expectBinary(ctx: Ctx, id: string, bytes: number | undefined): Promise<void> {
  const platform = await getLinked(ctx, id)
  const provider = await versions.getProvider(ctx, platform.versionId)
  await authorize(ctx, 'registry-provider-versions:manage', provider.organizationId, provider.id)
  versions.refuseRevoked(await versions.getLinked(ctx, platform.versionId))
  if (platform.binaryBlob === null) await quotas.requireRoom(ctx, provider.organizationId, bytes)
}

/** The platform that a signed link names; 404 when it is gone. The link is the permission. */
async function getLinked(ctx: Ctx, id: string): Promise<RegistryProviderPlatform> {
  const platform = await store.find(ctx.db, id)
  if (!platform) throw notFound()
  return platform
}

/**
 * Takes a platform's archive. Refuses one whose SHA-256 is not the platform's, and one that clients could not
 * install or should not unpack.
 */
export async function acceptBinary(ctx: Ctx, id: string, staged: StagedBlob): Promise<void> {
  const known = await getLinked(ctx, id)
  const { name, organizationId } = await versions.getProvider(ctx, known.versionId)
  const hash = staged.sha256 === known.shasum ? await checkArchive(name, staged) : null
  await inTransaction(ctx, async (tx) => {
    versions.refuseRevoked(await versions.lock(tx, known.versionId))
    const platform = await store.lock(tx.db, id)
    if (!platform) throw notFound()
    if (await isUploaded(tx, platform.binaryBlob, staged.sha256)) return
    if (hash === null) {
      throw new AppError(
        'unprocessable',
        `The file has SHA-256 ${staged.sha256}, but platform ${platform.os}_${platform.arch} expects ${platform.shasum}.`,
      )
    }
    await quotas.claimRoom(tx, organizationId, staged.size)
    const key = `providers/${id}/${staged.sha256}`
    await keep(tx.db, key, staged, tx.now())
    await store.update(tx.db, id, { binaryBlob: key, packageHash: hash, updatedAt: tx.now() })
    await versions.noteArchive(tx, platform)
  })
}

async function checkArchive(providerName: string, staged: StagedBlob): Promise<string> {
  try {
    return (await checkProviderArchive(staged.path, providerName)).hash
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    throw new AppError('unprocessable', `The archive is refused: ${error.message}.`)
  }
}

/** The stored archive of a platform; 404 until it is uploaded, and once the version is revoked. */
export async function getBinary(ctx: Ctx, id: string) {
  const platform = await store.findDownloadable(ctx.db, id)
  if (!platform) throw notFound()
  return { ...(await getFile(ctx, platform.binaryBlob)), filename: platform.filename }
}

function takenViolations(
  { platforms }: VersionDetails,
  { os, arch, filename }: PlatformAttributes,
): Violation[] {
  const violations: Violation[] = []
  if (platforms.some((platform) => platform.os === os && platform.arch === arch)) {
    violations.push({
      detail: `Platform ${os}_${arch} has already been taken`,
      pointer: '/data/attributes/os',
    })
  }
  if (platforms.some((platform) => platform.filename === filename)) {
    violations.push({ detail: 'Filename has already been taken', pointer: '/data/attributes/filename' })
  }
  return violations
}

function contradictions(
  digests: Map<string, string> | undefined,
  filename: string,
  shasum: string,
): Violation[] {
  const listed = digests?.get(filename)
  if (!digests || listed === shasum) return []
  return listed
    ? [
        {
          detail: `Shasum is not ${listed}, which the SHA256SUMS file lists`,
          pointer: '/data/attributes/shasum',
        },
      ]
    : [{ detail: 'Filename is not listed in the SHA256SUMS file', pointer: '/data/attributes/filename' }]
}

function refuseTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Platform has already been taken', {
    pointer: '/data/attributes/os',
    cause: error,
  })
}

function recordChange(
  tx: Ctx,
  action: string,
  { provider }: VersionDetails,
  { id }: RegistryProviderPlatform,
) {
  const { organizationId } = provider
  return audit.record(tx, {
    action,
    organizationId,
    resourceType: 'registry_provider_platform',
    resourceId: id,
  })
}
