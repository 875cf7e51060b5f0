import type { Insertable, Selectable } from 'kysely'
import { paginate, sameText } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { LogHead } from '../../lib/registry-log.ts'
import type { RegistryLogKeyTable, RegistryLogRecordTable } from './table.ts'

export type RecordRow = Selectable<RegistryLogRecordTable>

/** What the records of a page are about: the name, and the system where it is that of one module. */
export interface Wanted {
  kind: string
  name: string
  system?: string | undefined
}

const NAMED = {
  user: { table: 'users', column: 'username' },
  team: { table: 'teams', column: 'name' },
  organization: { table: 'organizations', column: 'name' },
} as const

/** Newest first; of everything unless some things are `wanted`, by names in any case. */
export function list(db: Db, organizationId: string, wanted: readonly Wanted[], page: PageRequest) {
  let records = db.selectFrom('registryLogRecords').selectAll().where('organizationId', '=', organizationId)
  if (wanted.length > 0)
    records = records.where((eb) =>
      eb.or(
        wanted.map(({ kind, name, system }) =>
          eb.and([
            eb('kind', '=', kind),
            sameText(eb, 'name', name),
            ...(system === undefined ? [] : [eb('system', '=', system)]),
          ]),
        ),
      ),
    )
  return paginate(records.orderBy('sequence', 'desc'), page)
}

/** The records from one number to another, oldest first. */
export function listBetween(db: Db, organizationId: string, from: number, to: number) {
  return db
    .selectFrom('registryLogRecords')
    .select(['sequence', 'content', 'hash', 'signature'])
    .where('organizationId', '=', organizationId)
    .where('sequence', '>=', from)
    .where('sequence', '<=', to)
    .orderBy('sequence')
    .execute()
}

export function findHead(db: Db, organizationId: string): Promise<LogHead | undefined> {
  return db
    .selectFrom('registryLogHeads')
    .select(['sequence', 'hash'])
    .where('organizationId', '=', organizationId)
    .executeTakeFirst()
}

/** Where the log ends; nobody else can append until the transaction has ended. */
export async function takeHead(db: Db, organizationId: string, first: LogHead): Promise<LogHead> {
  await db
    .insertInto('registryLogHeads')
    .values({ organizationId, ...first })
    .onConflict((conflict) => conflict.column('organizationId').doNothing())
    .execute()
  // A write that changes nothing: it waits for whoever holds the row, and then sees what they wrote.
  return db
    .updateTable('registryLogHeads')
    .set((eb) => ({ sequence: eb.ref('sequence') }))
    .where('organizationId', '=', organizationId)
    .returning(['sequence', 'hash'])
    .executeTakeFirstOrThrow()
}

/** Puts a record at the end of the log that `takeHead` gave. */
export async function insert(db: Db, row: Insertable<RegistryLogRecordTable>): Promise<void> {
  await db.insertInto('registryLogRecords').values(row).execute()
  await db
    .updateTable('registryLogHeads')
    .set({ sequence: row.sequence, hash: row.hash })
    .where('organizationId', '=', row.organizationId)
    .execute()
}

export function findCurrentKey(db: Db) {
  return db.selectFrom('registryLogKeys').selectAll().orderBy('serial', 'desc').limit(1).executeTakeFirst()
}

/** Adds the first key, unless somebody else was faster. */
export async function insertKey(db: Db, row: Insertable<RegistryLogKeyTable>): Promise<void> {
  await db
    .insertInto('registryLogKeys')
    .values(row)
    .onConflict((conflict) => conflict.column('serial').doNothing())
    .execute()
}

/** What everybody may know of the keys. */
export function listKeys(db: Db) {
  return db.selectFrom('registryLogKeys').select(['id', 'publicKey']).orderBy('serial').execute()
}

/** What a user, team or organization is called. */
export async function findName(db: Db, type: string, id: string): Promise<string | null> {
  if (!(type in NAMED)) return null
  const { table, column } = NAMED[type as keyof typeof NAMED]
  const row = await db
    .selectFrom(table as 'users')
    .select(`${column as 'username'} as name`)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.name ?? null
}
