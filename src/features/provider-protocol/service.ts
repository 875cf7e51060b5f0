import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import * as versions from '../registry-provider-versions/service.ts'
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
  return Map.groupBy(
    await store.listInstallable(ctx.db, provider.id, versions.INSTALLABLE),
    (platform) => platform.version,
  )
}

/** What the provider's users should know of versions, such as which are deprecated. */
export function warningsOf(ctx: Ctx, found: Map<string, InstallablePlatform[]>): string[] {
  const texts = [...found].flatMap(([version, [platform]]) => {
    const told = platform ? versions.warningsOf(platform, ctx.now()) : []
    return told.map((text) => ({ version, text }))
  })
  return [...Map.groupBy(texts, ({ text }) => text)].map(([text, of]) => {
    const named = of.slice(-NAMED_VERSIONS).map(({ version }) => version)
    const others = of.length - named.length
    return `${named.join(', ')}${others > 0 ? ` and ${others} earlier` : ''}: ${text}.`
  })
}

/** In a warning; people see it at each `init`. */
const NAMED_VERSIONS = 5

/** What a client needs to install one platform of one version; 404 unless it is complete and verified. */
export async function getPackage(
  ctx: Ctx,
  address: { namespace: string; name: string; version: string; os: string; arch: string },
): Promise<Package> {
  const { namespace, name, version, os, arch } = address
  const provider = await providers.getByCliAddress(ctx, namespace, name)
  const siblings = await store.listInstallable(ctx.db, provider.id, versions.INSTALLABLE, version)
  const wanted = siblings.find((platform) => platform.os === os && platform.arch === arch)
  if (!wanted) throw notFound()
  return { ...wanted, provider, siblings }
}
