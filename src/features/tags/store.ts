import { type Insertable, type Selectable, sql } from 'kysely'
import { contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { TagTable } from './table.ts'

export interface Tag extends Selectable<TagTable> {
  organizationName: string
  /** Workspaces that have the tag. */
  instanceCount: number
}

export interface TagFilter {
  /** Part of the name. */
  q: string | undefined
  /** A workspace whose tags are left out. */
  excludedWorkspaceId: string | undefined
}

function select(db: Db) {
  return db
    .selectFrom('tags')
    .innerJoin('organizations', 'organizations.id', 'tags.organizationId')
    .selectAll('tags')
    .select('organizations.name as organizationName')
    .select((eb) =>
      eb
        .selectFrom('workspaceTags')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('workspaceTags.tagId', '=', 'tags.id')
        .$asScalar()
        .$notNull()
        .as('instanceCount'),
    )
}

function tagIdsOf(db: Db, workspaceId: string) {
  return db.selectFrom('workspaceTags').select('tagId').where('workspaceId', '=', workspaceId)
}

export function list(db: Db, organizationId: string, filter: TagFilter, page: PageRequest) {
  const { q, excludedWorkspaceId } = filter
  let tags = select(db).where('tags.organizationId', '=', organizationId)
  if (q) tags = tags.where((eb) => contains(eb, 'tags.name', q))
  if (excludedWorkspaceId) tags = tags.where('tags.id', 'not in', tagIdsOf(db, excludedWorkspaceId))
  return paginate(tags.orderBy('tags.name'), page)
}

export function listOfWorkspace(db: Db, workspaceId: string, page: PageRequest) {
  return paginate(select(db).where('tags.id', 'in', tagIdsOf(db, workspaceId)).orderBy('tags.name'), page)
}

export function find(db: Db, id: string): Promise<Tag | undefined> {
  return select(db).where('tags.id', '=', id).executeTakeFirst()
}

/** The organization's tags among these ids and names. */
export function listAmong(
  db: Db,
  organizationId: string,
  { ids = [], names = [] }: { ids?: readonly string[]; names?: readonly string[] },
) {
  return db
    .selectFrom('tags')
    .select(['id', 'name'])
    .where('organizationId', '=', organizationId)
    .where((eb) => eb.or([eb('id', 'in', ['', ...ids]), eb('name', 'in', ['', ...names])]))
    .execute()
}

/** Adds the tags whose names the organization does not have. */
export async function insertMissing(db: Db, rows: readonly Insertable<TagTable>[]): Promise<void> {
  if (rows.length === 0) return
  await db
    .insertInto('tags')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['organizationId', 'name']).doNothing())
    .execute()
}

export async function remove(db: Db, ids: readonly string[]): Promise<void> {
  await db.deleteFrom('tags').where('id', 'in', ids).execute()
}

/** Puts every tag on every workspace; those that are there already stay. */
export async function attach(
  db: Db,
  workspaceIds: readonly string[],
  tagIds: readonly string[],
): Promise<void> {
  const rows = workspaceIds.flatMap((workspaceId) => tagIds.map((tagId) => ({ workspaceId, tagId })))
  if (rows.length === 0) return
  await db
    .insertInto('workspaceTags')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function detach(db: Db, workspaceId: string, tagIds: readonly string[]): Promise<void> {
  if (tagIds.length === 0) return
  await db
    .deleteFrom('workspaceTags')
    .where('workspaceId', '=', workspaceId)
    .where('tagId', 'in', tagIds)
    .execute()
}

/** Which workspaces among `ids` exist, and whose they are. */
export function listWorkspaces(db: Db, ids: readonly string[]) {
  return db.selectFrom('workspaces').select(['id', 'organizationId']).where('id', 'in', ids).execute()
}
