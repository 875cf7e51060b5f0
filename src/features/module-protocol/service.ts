import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { renderMarkdown } from '../../lib/markdown.ts'
import type { ModuleDescription } from '../../lib/module-description.ts'
import type { VersionDetails } from '../registry-module-versions/service.ts'
import * as versions from '../registry-module-versions/service.ts'
import type { RegistryModule } from '../registry-modules/service.ts'
import * as modules from '../registry-modules/service.ts'

/** A module as the CLI names it: `<namespace>/<name>/<system>`. */
export interface CliAddress {
  namespace: string
  name: string
  provider: string
}

/** A private module with its versions that can be installed, the newest first. Members of its organization only. */
export interface InstallableModule {
  module: RegistryModule
  versions: VersionDetails[]
}

export async function get(ctx: Ctx, { namespace, name, provider }: CliAddress): Promise<InstallableModule> {
  const module = await modules.get(ctx, modules.privateAddress(namespace, name, provider))
  return { module, versions: await versions.listPublished(ctx, module) }
}

/** One version to install; 404 unless it is published. Without a version, the newest that is none to try out only. */
export async function getVersion(
  ctx: Ctx,
  address: CliAddress,
  version?: string,
): Promise<InstallableModule & { chosen: VersionDetails }> {
  const installable = await get(ctx, address)
  const isWanted = (each: VersionDetails) =>
    version === undefined ? !each.version.includes('-') : each.version === version
  const newest = version === undefined ? installable.versions[0] : undefined
  const chosen = installable.versions.find(isWanted) ?? newest
  if (!chosen) throw notFound()
  return { ...installable, chosen }
}

/** Characters of a README that are made HTML: the worst of so many take half a second, for which all others wait. */
const MAX_RENDERED = 128 * 1024

/** What the contents of a published version say of it; its README also as HTML that can do no harm. */
export async function describe(
  ctx: Ctx,
  version: VersionDetails,
): Promise<{ description: ModuleDescription; readmeHtml: string | null }> {
  const description = await versions.describe(ctx, version)
  if (!description) throw notFound()
  const { readme } = description.root
  return { description, readmeHtml: readme.length <= MAX_RENDERED ? await renderMarkdown(readme) : null }
}
