import type { Insertable, Selectable, Updateable } from 'kysely'
import { changesRows, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { GpgKeyTable } from './table.ts'

/** A key with the name of the organization it belongs to, which is its namespace. */
export type GpgKey = Selectable<GpgKeyTable> & { namespace: string }

function keys(db: Db) {
  return db
    .selectFrom('gpgKeys')
    .innerJoin('organizations', 'organizations.id', 'gpgKeys.organizationId')
    .selectAll('gpgKeys')
    .select('organizations.name as namespace')
}

export function list(db: Db, organizationIds: readonly string[], page: PageRequest) {
  const wanted = keys(db).where('gpgKeys.organizationId', 'in', organizationIds)
  return paginate(wanted.orderBy('gpgKeys.createdAt').orderBy('gpgKeys.id'), page)
}

export function find(db: Db, id: string): Promise<GpgKey | undefined> {
  return keys(db).where('gpgKeys.id', '=', id).executeTakeFirst()
}

export function findByKeyId(db: Db, organizationId: string, keyId: string): Promise<GpgKey | undefined> {
  return keys(db)
    .where('gpgKeys.organizationId', '=', organizationId)
    .where('gpgKeys.keyId', '=', keyId)
    .executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<GpgKeyTable>): Promise<void> {
  await db.insertInto('gpgKeys').values(row).execute()
}

/** Gives a key to another organization; whether it was still with the one that `key` says. */
export async function move(
  db: Db,
  { id, organizationId }: GpgKey,
  changes: Updateable<GpgKeyTable>,
): Promise<boolean> {
  return changesRows(
    db.updateTable('gpgKeys').set(changes).where('id', '=', id).where('organizationId', '=', organizationId),
  )
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('gpgKeys').where('id', '=', id))
}
