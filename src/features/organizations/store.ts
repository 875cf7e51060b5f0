import type { Insertable, Selectable, Updateable } from 'kysely'
import { contains, paginate, sameText } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { OrganizationTable } from './table.ts'

export type Organization = Selectable<OrganizationTable>

export interface OrganizationFilter {
  /** Part of the name. */
  q: string | undefined
  /** Which organizations the subject is in. */
  member: { userId: string } | { organizationId: string }
}

export function list(db: Db, { q, member }: OrganizationFilter, page: PageRequest) {
  let organizations = db.selectFrom('organizations').selectAll()
  if (q) organizations = organizations.where((eb) => contains(eb, 'name', q))
  if ('organizationId' in member) {
    organizations = organizations.where('id', '=', member.organizationId)
  } else {
    const memberships = db
      .selectFrom('organizationMemberships')
      .select('organizationId')
      .where('userId', '=', member.userId)
    organizations = organizations.where('id', 'in', memberships)
  }
  return paginate(organizations.orderBy('name'), page)
}

export function find(db: Db, id: string): Promise<Organization | undefined> {
  return db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<Organization[]> {
  if (ids.length === 0) return []
  return db.selectFrom('organizations').selectAll().where('id', 'in', ids).execute()
}

export function findByName(db: Db, name: string): Promise<Organization | undefined> {
  return db
    .selectFrom('organizations')
    .selectAll()
    .where((eb) => sameText(eb, 'name', name))
    .executeTakeFirst()
}

export function insert(db: Db, row: Insertable<OrganizationTable>): Promise<Organization> {
  return db.insertInto('organizations').values(row).returningAll().executeTakeFirstOrThrow()
}

export function update(db: Db, id: string, changes: Updateable<OrganizationTable>): Promise<Organization> {
  return db
    .updateTable('organizations')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('organizations').where('id', '=', id).execute()
}
