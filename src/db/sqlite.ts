import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from 'kysely'
import { noteRead, SqliteChanges } from './changes.ts'
import { propertyName, SnakeCaseSqliteCompiler } from './identifiers.ts'
import { type OnQuery, reportTo } from './observe.ts'
import { sqliteOutage } from './outages.ts'
import { GroupCommit } from './sqlite-group-commit.ts'

/** Statements kept prepared per connection; generated IN lists could otherwise grow the cache for ever. */
const MAX_STATEMENTS = 500

/** busy_timeout comes first: the pragmas after it may already have to wait for another process. */
const PRAGMAS = `
  pragma busy_timeout = 5000;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = on;
  pragma wal_autocheckpoint = 4000;
`

interface Prepared {
  statement: StatementSync
  columns: { name: string; boolean: boolean }[]
}

/** One handle of the embedded database; results have camelCase keys and real booleans. */
class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return this.#run(query)
    } catch (error) {
      throw sqliteOutage(error)
    }
  }

  #run<R>(query: CompiledQuery): QueryResult<R> {
    const { statement, columns } = this.#prepare(query.sql)
    const parameters = query.parameters as SQLInputValue[]
    noteRead(query.sql)
    if (columns.length === 0) {
      return { rows: [], numAffectedRows: BigInt(statement.run(...parameters).changes) }
    }
    const rows = statement.all(...parameters) as unknown as unknown[][]
    return { rows: rows.map((values) => toObject(columns, values) as R) }
  }

  /** With a statement of its own: the one that is kept may be run again before this one ends. */
  async *streamQuery<R>({ sql, parameters }: CompiledQuery, chunkSize: number) {
    const { statement, columns } = this.#compile(sql)
    let rows: R[] = []
    for (const values of statement.iterate(...(parameters as SQLInputValue[]))) {
      rows.push(toObject(columns, values as unknown as unknown[]) as R)
      if (rows.length < chunkSize) continue
      yield { rows }
      rows = []
    }
    if (rows.length > 0) yield { rows }
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql)
    if (known) return known
    const prepared = this.#compile(sql)
    if (this.#statements.size < MAX_STATEMENTS) this.#statements.set(sql, prepared)
    return prepared
  }

  #compile(sql: string): Prepared {
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(true)
    const columns = statement
      .columns()
      .map(({ name, type }) => ({ name: propertyName(name), boolean: type?.toLowerCase() === 'boolean' }))
    return { statement, columns }
  }
}

function toObject(columns: Prepared['columns'], values: unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const [index, { name, boolean }] of columns.entries()) {
    const value = values[index]
    row[name] = boolean && value !== null ? value === 1 : value
  }
  return row
}

/** Readers need no queue: in WAL mode each query sees the last commit, and the handle cannot write. */
class ReadDriver implements Driver {
  readonly #connection: SqliteConnection

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  async init() {}
  async acquireConnection() {
    return this.#connection
  }
  async beginTransaction() {
    throw new Error('this handle only reads; use inTransaction')
  }
  async commitTransaction() {}
  async rollbackTransaction() {}
  async releaseConnection() {}
  async destroy() {}
}

/** Its transactions see one state of the database from their first query to their end. */
class SnapshotDriver extends ReadDriver {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    super(new SqliteConnection(database))
    this.#database = database
  }

  override async beginTransaction() {
    this.#database.exec('begin')
  }
  override async commitTransaction() {
    this.#database.exec('commit')
  }
  override async rollbackTransaction() {
    this.#database.exec('rollback')
  }
}

/** Kysely would let one transaction at a time near the driver, which is where they line up to share a commit. */
class QueueingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true
  }
}

function dialect(driver: Driver): Dialect {
  return {
    createAdapter: () => new QueueingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SnakeCaseSqliteCompiler(),
  }
}

/**
 * Opens the embedded database at `path`: one writer whose transactions share commits, and a reader.
 * `synchronous = full` makes every acknowledged commit survive a power cut.
 */
export function openSqlite<DB>(path: string, onQuery: OnQuery = () => {}, transactionsPerCommit?: number) {
  const writer = new DatabaseSync(path)
  writer.exec(PRAGMAS)
  // From here on waiting for another process is done between statements, where it holds up nobody else.
  writer.exec('pragma busy_timeout = 0')
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('pragma busy_timeout = 5000')
  const log = reportTo(onQuery)
  // Seen from the writer, data_version changes when somebody else commits.
  const dataVersion = writer.prepare('pragma data_version')
  dataVersion.setReturnArrays(true)
  const changes = new SqliteChanges(() => (dataVersion.get() as unknown as [number])[0])
  const transactions = new GroupCommit(writer, new SqliteConnection(writer), changes, transactionsPerCommit)
  return {
    reads: new Kysely<DB>({ log, dialect: dialect(new ReadDriver(new SqliteConnection(reader))) }),
    writes: new Kysely<DB>({ log, dialect: dialect(transactions) }),
    changes,
    close: async () => {
      await transactions.idle()
      reader.close()
      writer.close()
    },
  }
}

/** Opens the embedded database at `path` as it is, for transactions that only read. */
export function openSqliteSnapshots<DB>(path: string) {
  const database = new DatabaseSync(path, { readOnly: true })
  database.exec('pragma busy_timeout = 5000')
  return {
    snapshots: new Kysely<DB>({ dialect: dialect(new SnapshotDriver(database)) }),
    close: async () => database.close(),
  }
}
