import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { ProviderAddress, RegistryProvider } from '../registry-providers/service.ts'
import * as providers from '../registry-providers/service.ts'
import type { CountedPlatform, DocumentedVersion } from './store.ts'
import * as store from './store.ts'

/** A version with the provider it belongs to and the platforms it has. */
export interface VersionDetails extends DocumentedVersion {
  provider: RegistryProvider
  platforms: CountedPlatform[]
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

/** Like `get`, for changing a version or adding to it: a public provider answers 403. */
export async function getForChange(
  ctx: Ctx,
  address: ProviderAddress,
  version: string,
): Promise<VersionDetails> {
  return findIn(ctx, await providers.getPrivate(ctx, address, 'registry-provider-versions:manage'), version)
}

/** Like `getForChange`, holding back others that would change the version until the transaction ends. */
export async function lockForChange(
  tx: Ctx,
  address: ProviderAddress,
  version: string,
): Promise<VersionDetails> {
  const { id } = await getForChange(tx, address, version)
  if (!(await store.lock(tx.db, id))) throw notFound()
  return getById(tx, id)
}

/** A version by its id, for members of the organization it belongs to. */
export async function getById(ctx: Ctx, id: string): Promise<VersionDetails> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  const provider = await providers.getById(ctx, version.providerId)
  return { ...version, provider, platforms: await store.listPlatforms(ctx.db, [id]) }
}

async function findIn(ctx: Ctx, provider: RegistryProvider, version: string): Promise<VersionDetails> {
  const found = await store.findByVersion(ctx.db, provider.id, version)
  if (!found) throw notFound()
  return { ...found, provider, platforms: await store.listPlatforms(ctx.db, [found.id]) }
}
