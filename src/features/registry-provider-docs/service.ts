import prerelease from 'semver/functions/prerelease.js'
import { authorize } from '../../auth/authorize.ts'
import type { StagedBlob } from '../../blobs/blob-store.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { newestFirst } from '../../lib/newest.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { type DocPage, renderDoc } from '../../lib/provider-docs.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import * as versions from '../registry-provider-versions/service.ts'
import type { ProviderAddress } from '../registry-providers/service.ts'
import { readArchive } from './reading.ts'
import type { ListedPage, Page } from './store.ts'
import * as store from './store.ts'

export type { ListedPage } from './store.ts'

/** Words of a search that count. */
const MAX_WORDS = 8

/** What there is to say of a page: whose it is, and what it becomes. */
export interface ShownPage extends Page {
  html: string
}

export interface DocFilter {
  categories?: readonly string[]
  slugs?: readonly string[]
  /** Words, each of which has to be somewhere in the page. */
  q?: string | undefined
}

/** The pages of a version, in their order, or those that are searched for, the most likely ones first. */
export async function list(
  ctx: Ctx,
  address: ProviderAddress,
  version: string,
  filter: DocFilter,
  page: PageRequest,
) {
  const { id } = await versions.get(ctx, address, version)
  return store.list(ctx.db, [id], toPageFilter(filter), page)
}

/** The same of the newest documented version of each provider of an organization, or of one of them. */
export async function search(
  ctx: Ctx,
  organizationName: string,
  { provider, ...filter }: DocFilter & { provider?: string | undefined },
  page: PageRequest,
) {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  return store.list(ctx.db, await newestDocumented(ctx, id, provider), toPageFilter(filter), page)
}

/** The page with its HTML; 404 for those who may not read the registry. */
export async function get(ctx: Ctx, id: string): Promise<ShownPage> {
  const page = await store.find(ctx.db, id)
  if (!page) throw notFound()
  const version = await versions.getById(ctx, page.versionId)
  return { ...page, html: await renderDoc(page, { address: addressesOf(version) }) }
}

/** What people see of a version. */
export interface Browsed {
  version: versions.VersionDetails
  pages: ListedPage[]
  /** The page that is at the place, if there is one. */
  shown: ShownPage | undefined
}

/** All pages of a version, and the one at `place` with its HTML. The version may be `latest`. */
export async function browse(
  ctx: Ctx,
  address: ProviderAddress,
  number: string,
  place?: { category: string; slug: string },
): Promise<Browsed> {
  const version = await versions.get(ctx, address, await resolve(ctx, address, number))
  const pages = await store.listAll(ctx.db, version.id)
  const listed = pages.find((page) => page.category === place?.category && page.slug === place.slug)
  const page = listed && (await store.find(ctx.db, listed.id))
  const options = { address: addressesOf(version), headingsBelow: 1 }
  return { version, pages, shown: page && { ...page, html: await renderDoc(page, options) } }
}

/** Where people find the documentation of a version; a page has its category and slug added. */
export function pathOf({ version, provider }: Pick<versions.VersionDetails, 'version' | 'provider'>): string {
  const parts = [provider.organizationName, provider.name, version]
  return `/registry/providers/${parts.map(encodeURIComponent).join('/')}/docs`
}

export function addressesOf(version: Pick<versions.VersionDetails, 'version' | 'provider'>) {
  const path = pathOf(version)
  return ({ category, slug }: Pick<ListedPage, 'category' | 'slug'>) =>
    `${path}/${category}/${encodeURIComponent(slug)}`
}

/** Lets an archive be sent that an upload link names: whoever the link was made for may still publish the provider. */
export async function expect(ctx: Ctx, id: string): Promise<void> {
  const version = await versions.getById(ctx, id)
  const { organizationId, id: providerId } = version.provider
  await authorize(ctx, 'registry-provider-versions:manage', organizationId, providerId)
  versions.refuseRevoked(version)
}

/**
 * Takes the documentation of a version, in place of that which it had: unlike a program, a text can be mended after
 * its release. The log of the registry tells of each.
 */
export async function accept(ctx: Ctx, id: string, staged: StagedBlob): Promise<void> {
  const pages = await readArchive(staged)
  await inTransaction(ctx, async (tx) => {
    const version = await versions.lock(tx, id)
    versions.refuseRevoked(version)
    if ((await store.findDigest(tx.db, id)) === staged.sha256) return
    const provider = await versions.getProvider(tx, id)
    const docs = { versionId: id, sha256: staged.sha256, now: tx.now() }
    await store.replace(
      tx.db,
      docs,
      pages.map((page, position) => toRow(page, { position, versionId: id, provider: provider.name })),
    )
    await audit.record(tx, {
      action: 'document',
      organizationId: provider.organizationId,
      resourceType: 'registry_provider_version',
      resourceId: id,
    })
    const digests = { 'docs.tar.gz': staged.sha256 }
    await versions.logRelease(tx, provider, version, { action: 'document', digests })
  })
}

interface Place {
  position: number
  versionId: string
  provider: string
}

/** Letters become small here, and in what is searched for: a database knows fewer of them. */
function toRow({ headings, text, ...page }: DocPage, { position, versionId, provider }: Place) {
  const called = [page.title, page.slug, `${provider}_${page.slug}`, page.pageTitle ?? '']
  const names = called.join('\n').toLowerCase()
  return {
    ...page,
    id: newId('provdoc'),
    versionId,
    position,
    names,
    headings: headings.join('\n').toLowerCase(),
    words: [names, page.description ?? '', text].join('\n').toLowerCase(),
  }
}

function toPageFilter({ q = '', ...filter }: DocFilter): store.PageFilter {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return { ...filter, words: words.slice(0, MAX_WORDS) }
}

/** Ids of the newest documented versions that can be installed, before releases only where there is nothing else. */
async function newestDocumented(ctx: Ctx, organizationId: string, provider?: string): Promise<string[]> {
  const documented = await store.listDocumented(ctx.db, organizationId, versions.INSTALLABLE)
  const byProvider = Map.groupBy(documented, ({ name }) => name.toLowerCase())
  return [...byProvider].flatMap(([name, all]) => {
    if (provider !== undefined && name !== provider.toLowerCase()) return []
    const [newest] = newestFirst(all.some(isRelease) ? all.filter(isRelease) : all)
    return newest ? [newest.id] : []
  })
}

function isRelease({ version }: { version: string }): boolean {
  return prerelease(version) === null
}

/** `latest` stands for the newest documented version. */
async function resolve(ctx: Ctx, address: ProviderAddress, version: string): Promise<string> {
  if (version !== 'latest') return version
  const { id } = await organizations.getByName(ctx, address.organizationName, 'registry:read')
  const [newest] = await newestDocumented(ctx, id, address.name)
  if (newest === undefined) throw notFound()
  return (await versions.getById(ctx, newest)).version
}
