import type { Insertable, Selectable } from 'kysely'
import { changesRows, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { SshKeyTable } from './table.ts'

/** The value is left out: only `findValue` reads it. */
export type SshKey = Omit<Selectable<SshKeyTable>, 'value'>

const COLUMNS = ['id', 'organizationId', 'name', 'createdAt'] as const

export function list(db: Db, organizationId: string, page: PageRequest) {
  const keys = db.selectFrom('sshKeys').select(COLUMNS).where('organizationId', '=', organizationId)
  return paginate(keys.orderBy('createdAt').orderBy('id'), page)
}

export function find(db: Db, id: string): Promise<SshKey | undefined> {
  return db.selectFrom('sshKeys').select(COLUMNS).where('id', '=', id).executeTakeFirst()
}

/** The same, and it stays until the transaction ends. */
export function hold(db: Db, id: string): Promise<SshKey | undefined> {
  return db.selectFrom('sshKeys').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst()
}

/** The private key, sealed. */
export async function findValue(db: Db, id: string): Promise<string | undefined> {
  const key = await db.selectFrom('sshKeys').select('value').where('id', '=', id).executeTakeFirst()
  return key?.value
}

export function insert(db: Db, row: Insertable<SshKeyTable>): Promise<SshKey> {
  return db.insertInto('sshKeys').values(row).returning(COLUMNS).executeTakeFirstOrThrow()
}

export function update(db: Db, id: string, changes: { name: string }): Promise<SshKey | undefined> {
  return db.updateTable('sshKeys').set(changes).where('id', '=', id).returning(COLUMNS).executeTakeFirst()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('sshKeys').where('id', '=', id))
}
