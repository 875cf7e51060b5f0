import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { addSeconds } from '../../lib/time.ts'
import * as audit from '../audit-trail/service.ts'
import * as gpgKeys from '../gpg-keys/service.ts'
import type { ProviderAddress, RegistryProvider } from '../registry-providers/service.ts'
import * as providers from '../registry-providers/service.ts'
import { ownerOf, readDigests } from './release-files.ts'
import type { PlatformFile, RegistryProviderVersion, VersionOwner } from './store.ts'
import * as store from './store.ts'
import { bury, reuseViolations } from './tombstones.ts'

export type { PlatformFile, RegistryProviderVersion } from './store.ts'

/** A version with the provider it belongs to and the platforms it has. */
export interface VersionDetails extends RegistryProviderVersion {
  provider: RegistryProvider
  platforms: PlatformFile[]
}

export interface VersionAttributes {
  version: string
  keyId: string
  protocols: readonly string[]
}

/** The versions of a provider, in the order they were made; public providers have none here. */
export async function list(ctx: Ctx, address: ProviderAddress, page: PageRequest) {
  const provider = await providers.get(ctx, address)
  const versions = await store.list(ctx.db, provider.id, page)
  const platforms = await store.listPlatforms(
    ctx.db,
    versions.items.map((version) => version.id),
  )
  const items = versions.items.map((version) => ({
    ...version,
    provider,
    platforms: platforms.filter((platform) => platform.versionId === version.id),
  }))
  return { ...versions, items }
}

/** A version of a provider, if the caller has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  address: ProviderAddress,
  version: string,
  permission: Permission = 'registry:read',
): Promise<VersionDetails> {
  return findIn(ctx, await providers.get(ctx, address, permission), version)
}

/** Like `get`, for adding to a version: a public provider answers 403. */
export async function getForChange(
  ctx: Ctx,
  address: ProviderAddress,
  version: string,
): Promise<VersionDetails> {
  return findIn(ctx, await providers.getPrivate(ctx, address, 'registry-provider-versions:manage'), version)
}

/** Like `getForChange`, holding back others that would add platforms or SHA256SUMS until the transaction ends. */
export async function lockForPlatform(
  tx: Ctx,
  address: ProviderAddress,
  version: string,
): Promise<VersionDetails> {
  const { id } = await getForChange(tx, address, version)
  if (!(await store.lock(tx.db, id))) throw notFound()
  return getById(tx, id)
}

/** Remembers a released platform that is being deleted. */
export function buryPlatform(tx: Ctx, version: VersionDetails, platform: PlatformFile): Promise<void> {
  return bury(tx, version, [platform])
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

/** What those should know who publish or install what was signed by a key; undefined while it is in order. */
export function warningOf(
  { keyId, keyExpiresAt }: Pick<RegistryProviderVersion, 'keyId' | 'keyExpiresAt'>,
  now: string,
): string | undefined {
  if (!keyExpiresAt || keyExpiresAt > now) return undefined
  return `signed by key ${keyId}, which expired on ${keyExpiresAt.slice(0, 10)}`
}

/** The digests that a version's SHA256SUMS lists, by file name; undefined until that is uploaded. */
export function listDigests(
  ctx: Ctx,
  { shasumsBlob }: VersionDetails,
): Promise<Map<string, string> | undefined> {
  return readDigests(ctx, shasumsBlob)
}

async function findIn(ctx: Ctx, provider: RegistryProvider, version: string): Promise<VersionDetails> {
  const found = await store.findByVersion(ctx.db, provider.id, version)
  if (!found) throw notFound()
  return { ...found, provider, platforms: await store.listPlatforms(ctx.db, [found.id]) }
}

/** A version by its id, for members of the organization it belongs to. */
export async function getById(ctx: Ctx, id: string): Promise<VersionDetails> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  const provider = await providers.getById(ctx, version.providerId)
  return { ...version, provider, platforms: await store.listPlatforms(ctx.db, [id]) }
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
        shasumsBlob: null,
        signatureBlob: null,
        createdById: tx.subject?.kind === 'user' ? tx.subject.id : null,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTaken)
    await recordChange(tx, 'create', provider, version)
    return { ...version, provider, platforms: [] }
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
  await store.remove(tx.db, id)
  const binaries = platforms.map((platform) => platform.binaryBlob)
  await removeFiles(tx, [version.shasumsBlob, version.signatureBlob, ...binaries])
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
