import { type Insertable, type Selectable, sql } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RegistryProviderDocPageTable } from './table.ts'

type PageRow = Selectable<RegistryProviderDocPageTable>

/** A page in a list. */
export type ListedPage = Omit<PageRow, 'content' | 'names' | 'headings' | 'words' | 'position'>

export type Page = ListedPage & { content: string }

/** Which pages are wanted; what is undefined or empty does not matter. */
export interface PageFilter {
  categories?: readonly string[]
  slugs?: readonly string[]
  /** In small letters; each of them has to be there. */
  words?: readonly string[]
}

const LISTED = [
  'id',
  'versionId',
  'category',
  'slug',
  'path',
  'title',
  'pageTitle',
  'subcategory',
  'description',
  'truncated',
] as const

/** Rows of one INSERT. */
const INSERTED = 50

/**
 * Pages of these versions, in their order; where words are wanted, first those that are called so, then those with a
 * heading that says so.
 */
export async function list(db: Db, versionIds: readonly string[], filter: PageFilter, page: PageRequest) {
  const { categories = [], slugs = [], words = [] } = filter
  let pages = db
    .selectFrom('registryProviderDocPages as page')
    .innerJoin('registryProviderVersions as version', 'version.id', 'page.versionId')
    .innerJoin('registryProviders as provider', 'provider.id', 'version.providerId')
    .select(LISTED.map((column) => `page.${column}` as const))
    .where('page.versionId', 'in', versionIds.length > 0 ? versionIds : [''])
  if (categories.length > 0) pages = pages.where('page.category', 'in', categories as never)
  if (slugs.length > 0) pages = pages.where('page.slug', 'in', slugs)
  for (const word of words) pages = pages.where(sql<boolean>`page.words like ${pattern(word)} escape '\\'`)
  const ranked = words.length > 0 ? pages.orderBy(rankOf(words)) : pages
  return paginate(ranked.orderBy('provider.name').orderBy('page.versionId').orderBy('page.position'), page)
}

function rankOf(words: readonly string[]) {
  const all = (column: 'names' | 'headings') =>
    sql.join(
      words.map((word) => sql`${sql.ref(`page.${column}`)} like ${pattern(word)} escape '\\'`),
      sql` and `,
    )
  return sql`case when ${all('names')} then 0 when ${all('headings')} then 1 else 2 end`
}

function pattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`
}

export function find(db: Db, id: string): Promise<Page | undefined> {
  return db
    .selectFrom('registryProviderDocPages')
    .select([...LISTED, 'content'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** All pages of a version, in their order. */
export function listAll(db: Db, versionId: string): Promise<ListedPage[]> {
  return db
    .selectFrom('registryProviderDocPages')
    .select(LISTED)
    .where('versionId', '=', versionId)
    .orderBy('position')
    .execute()
}

/** The versions of an organization's providers that have documentation and one of `states`. */
export function listDocumented(
  db: Db,
  organizationId: string,
  states: readonly string[],
): Promise<{ id: string; version: string; providerId: string; name: string }[]> {
  return db
    .selectFrom('registryProviderDocs as docs')
    .innerJoin('registryProviderVersions as version', 'version.id', 'docs.versionId')
    .innerJoin('registryProviders as provider', 'provider.id', 'version.providerId')
    .select(['version.id', 'version.version', 'version.providerId', 'provider.name'])
    .where('provider.organizationId', '=', organizationId)
    .where('version.status', 'in', states as never)
    .execute()
}

export async function findDigest(db: Db, versionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('registryProviderDocs')
    .select('sha256')
    .where('versionId', '=', versionId)
    .executeTakeFirst()
  return row?.sha256
}

/** Puts pages in place of those that a version had; the caller keeps others from doing the same. */
export async function replace(
  db: Db,
  docs: { versionId: string; sha256: string; now: string },
  pages: readonly Insertable<RegistryProviderDocPageTable>[],
): Promise<void> {
  const { versionId, sha256, now } = docs
  await db
    .insertInto('registryProviderDocs')
    .values({ versionId, sha256, createdAt: now, updatedAt: now })
    .onConflict((conflict) => conflict.column('versionId').doUpdateSet({ sha256, updatedAt: now }))
    .execute()
  await db.deleteFrom('registryProviderDocPages').where('versionId', '=', versionId).execute()
  for (let from = 0; from < pages.length; from += INSERTED)
    await db
      .insertInto('registryProviderDocPages')
      .values(pages.slice(from, from + INSERTED))
      .execute()
}
