import type { Insertable, Selectable, Updateable } from 'kysely'
import { changesRows, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { ReservedTagKeyTable } from './table.ts'

export type ReservedTagKey = Selectable<ReservedTagKeyTable>

export function list(db: Db, organizationId: string, page: PageRequest) {
  const keys = db.selectFrom('reservedTagKeys').selectAll().where('organizationId', '=', organizationId)
  return paginate(keys.orderBy('createdAt').orderBy('id'), page)
}

export function find(db: Db, id: string): Promise<ReservedTagKey | undefined> {
  return db.selectFrom('reservedTagKeys').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The keys among `keys` that workspaces may not override. */
export async function listProtected(
  db: Db,
  organizationId: string,
  keys: readonly string[],
): Promise<string[]> {
  if (keys.length === 0) return []
  const rows = await db
    .selectFrom('reservedTagKeys')
    .select('key')
    .where('organizationId', '=', organizationId)
    .where('disableOverrides', '=', true)
    .where('key', 'in', keys)
    .execute()
  return rows.map((row) => row.key)
}

export function insert(db: Db, row: Insertable<ReservedTagKeyTable>): Promise<ReservedTagKey> {
  return db.insertInto('reservedTagKeys').values(row).returningAll().executeTakeFirstOrThrow()
}

export function update(
  db: Db,
  id: string,
  changes: Updateable<ReservedTagKeyTable>,
): Promise<ReservedTagKey | undefined> {
  return db.updateTable('reservedTagKeys').set(changes).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('reservedTagKeys').where('id', '=', id))
}
