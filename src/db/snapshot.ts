import { existsSync } from 'node:fs'
import { type Kysely, sql } from 'kysely'
import type { DatabaseLocation } from './connect.ts'
import type { Database } from './database.ts'
import { openPostgres } from './postgres.ts'
import { openSqliteSnapshots } from './sqlite.ts'
import type { Db } from './transaction.ts'

/**
 * Runs `read` on one state of the database, whatever others write meanwhile. The database is taken as it is:
 * neither made nor migrated, and not locked.
 */
export async function readSnapshot<T>(location: DatabaseLocation, read: (db: Db) => Promise<T>): Promise<T> {
  const { snapshots, close } = open(location)
  try {
    return await snapshots.transaction().execute(async (tx) => {
      if (location.kind === 'postgres')
        await sql`set transaction isolation level repeatable read, read only`.execute(tx)
      return read(tx)
    })
  } finally {
    await close()
  }
}

/** Whether there is a database to read; one that does not answer may be there. */
export function mayExist(location: DatabaseLocation): boolean {
  return location.kind === 'postgres' || existsSync(location.path)
}

function open(location: DatabaseLocation): { snapshots: Kysely<Database>; close: () => Promise<void> } {
  if (location.kind === 'sqlite') return openSqliteSnapshots<Database>(location.path)
  const { reads, close } = openPostgres<Database>(
    location.url,
    () => {},
    () => {},
  )
  return { snapshots: reads, close }
}
