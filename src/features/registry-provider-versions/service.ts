import { authorize } from '../../auth/authorize.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { addSeconds } from '../../lib/time.ts'
import * as audit from '../audit-trail/service.ts'
import * as gpgKeys from '../gpg-keys/service.ts'
import type { ProviderAddress, RegistryProvider } from '../registry-providers/service.ts'
import * as providers from '../registry-providers/service.ts'
import { DRAFT, refuseRevoked } from './lifecycle.ts'
import { digestsOf, logRelease } from './log.ts'
import { get, lockForChange, type VersionDetails } from './reading.ts'
import { ownerOf, readDigests } from './release-files.ts'
import type { PlatformFile, RegistryProviderVersion, VersionOwner } from './store.ts'
import * as store from './store.ts'
import { bury, reuseViolations } from './tombstones.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only.
export { noteArchive, refuseRevoked, update, type VersionChanges } from './lifecycle.ts'
export { logRelease } from './log.ts'
export { get, getById, getForChange, list, type VersionDetails } from './reading.ts'
export { getLinked } from './release-files.ts'
export { INSTALLABLE } from './status.ts'
export type { PlatformFile, RegistryProviderVersion } from './store.ts'
export { warningsOf } from './warnings.ts'

export interface VersionAttributes {
  version: string
  keyId: string
  protocols: readonly string[]
}

/** The version for adding a platform: others that would change it wait until the transaction ends. 409 if revoked. */
export async function lockForPlatform(
  tx: Ctx,
  address: ProviderAddress,
  number: string,
): Promise<VersionDetails> {
  const version = await lockForChange(tx, address, number)
  refuseRevoked(version)
  return version
}

/** The version of a platform that is being filled or deleted: others that would change it wait. */
export async function lock(tx: Ctx, id: string): Promise<RegistryProviderVersion> {
  const version = await store.lock(tx.db, id)
  if (!version) throw notFound()
  return version
}

/** Puts on record that a platform is being deleted, if consumers could get it. */
export async function buryPlatform(tx: Ctx, version: VersionDetails, platform: PlatformFile): Promise<void> {
  await bury(tx, version, [platform])
  if (version.status === 'draft' || platform.binaryBlob === null) return
  await logRelease(tx, version.provider, version, {
    action: 'delete',
    digests: { [platform.filename]: platform.shasum },
    details: { platform: `${platform.os}_${platform.arch}` },
  })
}

/** What speaks against giving a version this platform, which may have been released and deleted before. */
export function listReuseViolations(
  tx: Ctx,
  version: VersionDetails,
  platform: Pick<PlatformFile, 'os' | 'arch' | 'shasum'>,
): Promise<Violation[]> {
  return reuseViolations(tx, version, platform)
}

/** The provider that a version is of, for files that a signed link let in. */
export function getProvider(ctx: Ctx, id: string): Promise<VersionOwner> {
  return ownerOf(ctx, id)
}

/** The digests that a version's SHA256SUMS lists, by file name; undefined until that is uploaded. */
export function listDigests(
  ctx: Ctx,
  { shasumsBlob }: VersionDetails,
): Promise<Map<string, string> | undefined> {
  return readDigests(ctx, shasumsBlob)
}

/**
 * Makes a version, signed by a key of the provider's namespace. It keeps a copy of the key, so that deleting
 * the key later leaves it installable.
 */
export function create(
  ctx: Ctx,
  address: ProviderAddress,
  attributes: VersionAttributes,
): Promise<VersionDetails> {
  return inTransaction(ctx, async (tx) => {
    const provider = await providers.getPrivate(tx, address, 'registry-provider-versions:manage')
    const key = await gpgKeys.findByKeyId(tx, provider.organizationId, attributes.keyId)
    const violations: Violation[] = []
    if (await store.findByVersion(tx.db, provider.id, attributes.version)) violations.push(TAKEN)
    if (!key) {
      violations.push({
        detail: `Key is not a registered signing key of namespace ${provider.namespace}`,
        pointer: '/data/attributes/key-id',
      })
    }
    refuse(violations)
    const now = tx.now()
    const version = await store
      .insert(tx.db, {
        id: newId('provver'),
        providerId: provider.id,
        version: attributes.version,
        protocols: JSON.stringify(attributes.protocols),
        keyId: key?.keyId ?? '',
        asciiArmor: key?.asciiArmor ?? '',
        keyExpiresAt: key?.expiresAt ?? null,
        ...DRAFT,
        createdById: tx.subject?.kind === 'user' ? tx.subject.id : null,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTaken)
    await recordChange(tx, 'create', provider, version)
    return { ...version, docsSha256: null, provider, platforms: [] }
  })
}

/** Deletes a version with its platforms and files; links to them die with it. */
export function remove(ctx: Ctx, address: ProviderAddress, version: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const found = await get(tx, address, version, 'registry-provider-versions:manage')
    await removeWithFiles(tx, found.provider, found.id)
    await recordChange(tx, 'destroy', found.provider, found)
  })
}

/** Deletes the versions of a provider that is being deleted. */
export async function removeAll(tx: Ctx, provider: RegistryProvider): Promise<void> {
  await authorize(tx, 'registry-providers:manage', provider.organizationId)
  for (const { id } of await store.listAll(tx.db, provider.id)) await removeWithFiles(tx, provider, id)
}

/**
 * Deletes the versions that nobody has added a file to for as long as `PLINTH_ABANDONED_DRAFT_DAYS` says, and
 * that nobody can install. What can be installed is never touched.
 */
export async function removeAbandonedDrafts(ctx: Ctx, signal: AbortSignal): Promise<void> {
  const days = ctx.config.abandonedDraftDays
  if (days === 0) return
  const before = addSeconds(ctx.now(), -days * 24 * 3600)
  for (const draft of await store.listDrafts(ctx.db, before)) {
    if (signal.aborted) return
    await inTransaction(ctx, async (tx) => {
      const provider = await providers.getById(tx, draft.providerId, 'registry-provider-versions:manage')
      if (!(await store.isDraft(tx.db, draft.id, before))) return
      await removeWithFiles(tx, provider, draft.id)
      await recordChange(tx, 'destroy', provider, draft)
    })
  }
}

/** Locks what it deletes, so that an upload that is being recorded is either seen here or finds nothing. */
async function removeWithFiles(tx: Ctx, provider: RegistryProvider, id: string): Promise<void> {
  const version = await store.lock(tx.db, id)
  if (!version) throw notFound()
  const platforms = await store.lockPlatforms(tx.db, id)
  await bury(tx, { ...version, provider }, platforms)
  const digests = await digestsOf(tx, version, platforms)
  await store.remove(tx.db, id)
  const binaries = platforms.map((platform) => platform.binaryBlob)
  await removeFiles(tx, [version.shasumsBlob, version.signatureBlob, ...binaries])
  if (version.status !== 'draft') await logRelease(tx, provider, version, { action: 'delete', digests })
}

function recordChange(
  tx: Ctx,
  action: string,
  { organizationId }: { organizationId: string },
  { id }: { id: string },
) {
  return audit.record(tx, {
    action,
    organizationId,
    resourceType: 'registry_provider_version',
    resourceId: id,
  })
}

const TAKEN: Violation = { detail: 'Version has already been taken', pointer: '/data/attributes/version' }

function refuseTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', [TAKEN])
}
