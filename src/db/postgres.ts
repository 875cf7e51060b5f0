import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryResult,
  sql,
} from 'kysely'
import pg from 'pg'
import { PostgresChanges } from './changes.ts'
import { propertyName, SnakeCasePostgresCompiler } from './identifiers.ts'
import { type OnQuery, reportTo } from './observe.ts'
import { noConnection, postgresOutage } from './postgres-outages.ts'

const POOL_SIZE = 8

/** Statements that get a name, and so a plan kept by the server, per process. */
const MAX_STATEMENTS = 500

const INT8 = 20

const COMMIT = 'commit'

/** Any number that no other program uses on this database. */
const MIGRATION_LOCK = 7_054_846_840

/** Column types are decoded as SQLite's are: int8 (counts, sizes) as number. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
}

const statementNames = new Map<string, string>()

function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql)
  if (known || statementNames.size >= MAX_STATEMENTS) return known
  const name = `plinth_${statementNames.size}`
  statementNames.set(sql, name)
  return name
}

class PostgresConnection implements DatabaseConnection {
  readonly client: pg.PoolClient
  /** Set when the connection broke, so that the pool drops it. */
  failure: Error | undefined

  constructor(client: pg.PoolClient) {
    this.client = client
  }

  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return this.#run(sql, parameters, statementName(sql))
  }

  async #run<R>(sql: string, parameters: readonly unknown[], name?: string): Promise<QueryResult<R>> {
    const result = await this.client
      .query({ text: sql, values: parameters as unknown[], rowMode: 'array', types, ...(name && { name }) })
      .catch((error: unknown) => {
        throw postgresOutage(error, { committing: sql === COMMIT })
      })
    const names = result.fields.map((field) => propertyName(field.name))
    const rows = result.rows.map((values: unknown[]) => {
      const row: Record<string, unknown> = {}
      for (const [index, property] of names.entries()) row[property] = values[index]
      return row as R
    })
    return { rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  /** Works in transactions only, one stream at a time: a cursor lives no longer, and has one name. */
  async *streamQuery<R>({ sql, parameters }: CompiledQuery, chunkSize: number) {
    await this.#run(`declare plinth_rows no scroll cursor for ${sql}`, parameters)
    try {
      for (;;) {
        const chunk = await this.#run<R>(`fetch ${chunkSize} from plinth_rows`, [])
        if (chunk.rows.length === 0) return
        yield chunk
      }
    } finally {
      await this.#run('close plinth_rows', [])
    }
  }
}

class PostgresDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async init() {}

  async acquireConnection() {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw noConnection(error)
    })
    return new PostgresConnection(client)
  }

  async beginTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(CompiledQuery.raw('begin'))
  }

  async commitTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(CompiledQuery.raw(COMMIT))
  }

  async rollbackTransaction(connection: PostgresConnection) {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
    } catch (error) {
      connection.failure = error as Error
    }
  }

  async releaseConnection(connection: PostgresConnection) {
    connection.client.release(connection.failure)
  }

  async destroy() {}
}

/** Opens a pool of connections to the server at `url`; `onError` hears of idle ones that broke. */
export function openPostgres<DB>(url: string, onError: (error: Error) => void, onQuery: OnQuery) {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: 5_000,
    application_name: 'plinth',
  })
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', onError)
  // So would one that breaks between two statements of a transaction; the next of them fails and says so.
  pool.on('connect', (client) => client.on('error', () => {}))
  const database = new Kysely<DB>({
    log: reportTo(onQuery),
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PostgresDriver(pool),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new SnakeCasePostgresCompiler(),
    },
  })
  const snapshot = sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`
  return {
    changes: new PostgresChanges(async () => {
      const { rows } = await snapshot.execute(database)
      return rows[0]?.snapshot ?? ''
    }),
    reads: database,
    writes: database,
    migrationLock: `select pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    close: () => pool.end(),
  }
}
