import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Kysely } from 'kysely'
import type { Changes } from './changes.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import type { OnQuery } from './observe.ts'
import { openSqlite } from './sqlite.ts'

/** The open database: a handle that reads committed rows, one whose transactions write, and the end. */
export interface Connection {
  reads: Kysely<Database>
  writes: Kysely<Database>
  /** For caches. */
  changes: Changes
  /** SQL that makes a second server wait while this one migrates. */
  migrationLock?: string
  close: () => Promise<void>
}

export type DatabaseLocation =
  /** How many transactions may share a commit is for the bench to say, which measures what sharing is worth. */
  { kind: 'sqlite'; path: string; transactionsPerCommit?: number } | { kind: 'postgres'; url: string }

/**
 * Opens the database and brings its schema up to date. `onError` hears of idle connections that broke (they are
 * replaced when needed), `onQuery` of each statement that ended.
 */
export async function connect(
  location: DatabaseLocation,
  onError: (error: Error) => void,
  onQuery: OnQuery = () => {},
): Promise<Connection> {
  const connection = await open(location, onError, onQuery)
  try {
    await migrate(connection.writes as Kysely<unknown>, connection.migrationLock)
    return connection
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function open(
  location: DatabaseLocation,
  onError: (error: Error) => void,
  onQuery: OnQuery,
): Promise<Connection> {
  if (location.kind === 'postgres') {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres<Database>(location.url, onError, onQuery)
  }
  mkdirSync(dirname(location.path), { recursive: true, mode: 0o700 })
  return openSqlite<Database>(location.path, onQuery, location.transactionsPerCommit)
}
