import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { SqliteChanges } from './changes.ts'
import { isSqliteBusy, sqliteOutage, undone } from './outages.ts'

/** Transactions that may share one commit; bounds how long the first of them waits. */
const MAX_GROUP = 64

/** How long a transaction waits for another process that writes to the same file, and how often it asks. */
const BUSY_MS = 5_000
const BUSY_POLL_MS = 20

interface Waiting {
  statements: readonly string[]
  resolve: () => void
  reject: (error: unknown) => void
}

/** One transaction's view of the writer, so that the driver can tell whose turn it is. */
class Member implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #connection: DatabaseConnection
  began = false
  /** What it ran that may have written. */
  readonly statements: string[] = []

  constructor(database: DatabaseSync, connection: DatabaseConnection) {
    this.#database = database
    this.#connection = connection
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // What follows an error that ended the transaction would be durable at once.
    if (this.began && !this.#database.isTransaction) throw undone()
    if (query.query.kind !== 'SelectQueryNode') this.statements.push(query.sql)
    return this.#connection.executeQuery(query)
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery(query, chunkSize)
  }
}

/**
 * The writer of the embedded database. Transactions run one after another, each in a savepoint, and those
 * that arrive together are made durable by one commit: the flush to disk is most of what a write costs.
 * A transaction is acknowledged when the commit that carries it has succeeded; when that fails, all fail.
 */
export class GroupCommit implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: DatabaseConnection
  readonly #changes: SqliteChanges
  readonly #maxGroup: number
  /** Transactions waiting for their turn. */
  readonly #queue: (() => void)[] = []
  /** Transactions that ran and wait for the commit. */
  #group: Waiting[] = []
  /** The transaction that is running. */
  #current: DatabaseConnection | undefined

  constructor(
    database: DatabaseSync,
    connection: DatabaseConnection,
    changes: SqliteChanges,
    maxGroup = MAX_GROUP,
  ) {
    this.#database = database
    this.#connection = connection
    this.#changes = changes
    this.#maxGroup = maxGroup
  }

  async init() {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new Member(this.#database, this.#connection)
  }

  async beginTransaction(member: Member): Promise<void> {
    const deadline = performance.now() + BUSY_MS
    if (this.#current) {
      await new Promise<void>((resolve) => {
        this.#queue.push(() => {
          this.#current = member
          resolve()
        })
      })
    }
    this.#current = member
    try {
      await this.#open(deadline)
      this.#database.exec('savepoint member')
      member.began = true
    } catch (error) {
      this.#finishTurn()
      throw sqliteOutage(error)
    }
  }

  /** Lets the rest of this process go on while another one is writing. */
  async #open(deadline: number): Promise<void> {
    while (!this.#database.isTransaction) {
      try {
        this.#database.exec('begin immediate')
      } catch (error) {
        if (!isSqliteBusy(error) || performance.now() > deadline) throw error
        await sleep(BUSY_POLL_MS)
      }
    }
  }

  async commitTransaction({ statements }: Member): Promise<void> {
    if (!this.#database.isTransaction) throw undone()
    this.#database.exec('release member')
    const committed = new Promise<void>((resolve, reject) =>
      this.#group.push({ statements, resolve, reject }),
    )
    this.#finishTurn()
    await committed
  }

  /** Also called by Kysely after a commit that failed, when the turn has long passed on. */
  async rollbackTransaction(member: DatabaseConnection): Promise<void> {
    if (this.#current !== member) return
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback to member; release member')
    } finally {
      this.#finishTurn()
    }
  }

  async releaseConnection() {}
  async destroy() {}

  /** Resolves when no transaction is running, waiting, or about to be committed. */
  async idle(): Promise<void> {
    while (this.#current || this.#queue.length > 0 || this.#group.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Hands the writer to the next in line, or commits when nobody has come by the end of this loop turn. */
  #finishTurn(): void {
    this.#current = undefined
    // Some errors, a full disk among them, make SQLite roll back everything that was not committed.
    if (!this.#database.isTransaction) this.#settleGroup(undone())
    if (this.#group.length >= this.#maxGroup) this.#commitGroup()
    const next = this.#queue.shift()
    if (next) next()
    else if (this.#database.isTransaction) setImmediate(() => this.#current ?? this.#commitGroup())
  }

  #commitGroup(): void {
    if (!this.#database.isOpen || !this.#database.isTransaction) return
    try {
      this.#database.exec('commit')
      this.#settleGroup()
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      this.#settleGroup(sqliteOutage(error))
    }
  }

  #settleGroup(error?: unknown): void {
    const group = this.#group
    this.#group = []
    if (!error) for (const { statements } of group) this.#changes.committed(statements)
    for (const member of group) error ? member.reject(error) : member.resolve()
  }
}
