import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import type { RegistryProvider } from '../registry-providers/service.ts'
import * as providers from '../registry-providers/service.ts'
import type { InstallablePlatform } from './store.ts'
import * as store from './store.ts'

export type { InstallablePlatform } from './store.ts'

/** A platform to install, the provider it is of, and every platform of the same version. */
export interface Package extends InstallablePlatform {
  provider: RegistryProvider
  siblings: InstallablePlatform[]
}

/** The installable platforms of a private provider, by version. Members of its organization only. */
export async function listVersions(
  ctx: Ctx,
  namespace: string,
  name: string,
): Promise<Map<string, InstallablePlatform[]>> {
  const provider = await providers.getByCliAddress(ctx, namespace, name)
  return Map.groupBy(await store.listInstallable(ctx.db, provider.id), (platform) => platform.version)
}

/** What a client needs to install one platform of one version; 404 unless it is complete and verified. */
export async function getPackage(
  ctx: Ctx,
  address: { namespace: string; name: string; version: string; os: string; arch: string },
): Promise<Package> {
  const { namespace, name, version, os, arch } = address
  const provider = await providers.getByCliAddress(ctx, namespace, name)
  const siblings = await store.listInstallable(ctx.db, provider.id, version)
  const wanted = siblings.find((platform) => platform.os === os && platform.arch === arch)
  if (!wanted) throw notFound()
  return { ...wanted, provider, siblings }
}
