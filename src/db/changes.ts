import { AsyncLocalStorage } from 'node:async_hooks'

/** A moment in the life of the database, compared with nothing but itself. */
export type Mark = number | string

/**
 * Tells whether what was read at a mark would be read again now, without reading it. It is never wrong about
 * a change: caches that ask it first are exact, also about changes made by other processes.
 */
export interface Changes {
  /** Whether taking a mark costs next to nothing, so that it pays to ask before a single read. */
  areFree: boolean
  /** The mark of this moment; taken before the first read that a cached thing depends on. */
  mark: () => Mark | Promise<Mark>
  /** Whether nothing in `tables` changed between two marks. May say no too often. */
  unchanged: (since: Mark, now: Mark, tables: ReadonlySet<string>) => boolean
}

const recording = new AsyncLocalStorage<Set<string>>()

/** Runs `work` and adds the tables that it reads, in the end, to `tables`. */
export function recordReads<T>(tables: Set<string>, work: () => T): T {
  return recording.run(tables, work)
}

/** Called by a driver with each statement that reads. */
export function noteRead(sql: string): void {
  if (recording.getStore()) noteTables(tablesIn(sql, READ, reads))
}

/** Adds to what is being recorded the tables that something remembered was read from. */
export function noteTables(read: Iterable<string>): void {
  const tables = recording.getStore()
  if (tables) for (const table of read) tables.add(table)
}

const READ = /\b(?:from|join) "(\w+)"/g
const WRITTEN = /^(?:insert into|update) "(\w+)"/g

const reads = new Map<string, string[]>()
const writes = new Map<string, string[]>()

/** Statements whose tables are remembered; the text of those with long lists of values differs each time. */
const MAX_STATEMENTS = 2_000

function tablesIn(sql: string, pattern: RegExp, memory: Map<string, string[]>): string[] {
  let tables = memory.get(sql)
  if (!tables) {
    tables = [...sql.matchAll(pattern)].map((match) => match[1] as string)
    if (memory.size < MAX_STATEMENTS) memory.set(sql, tables)
  }
  return tables
}

/**
 * Counts the commits of this process by the tables they wrote, and notices those of other processes by the
 * counter that SQLite keeps for its files.
 */
export class SqliteChanges implements Changes {
  readonly areFree = true
  readonly #foreignCommits: () => number
  #clock = 0
  /** The clock at the last change of a table. */
  readonly #changed = new Map<string, number>()
  /** The clock at the last change that may have been of any table. */
  #everything = 0
  #foreign: number

  /** `foreignCommits` changes when another process commits, and never else. */
  constructor(foreignCommits: () => number) {
    this.#foreignCommits = foreignCommits
    this.#foreign = foreignCommits()
  }

  mark(): number {
    this.#noticeForeign()
    return this.#clock
  }

  /** Taking the second mark has noticed what other processes did, so the clocks tell all. */
  unchanged(since: Mark, _now: Mark, tables: ReadonlySet<string>): boolean {
    if (this.#everything > Number(since)) return false
    for (const table of tables) if ((this.#changed.get(table) ?? 0) > Number(since)) return false
    return true
  }

  /** Called when a commit has succeeded, with what its statements were. */
  committed(statements: Iterable<string>): void {
    this.#clock += 1
    for (const sql of statements) {
      const tables = tablesIn(sql, WRITTEN, writes)
      // A deletion goes on in the tables that refer to the row.
      if (tables.length === 0) this.#everything = this.#clock
      for (const table of tables) this.#changed.set(table, this.#clock)
    }
  }

  #noticeForeign(): void {
    const foreign = this.#foreignCommits()
    if (foreign === this.#foreign) return
    this.#foreign = foreign
    this.#clock += 1
    this.#everything = this.#clock
  }
}

/** Compares snapshots: two that are the same see the same rows. It costs one short query to ask. */
export class PostgresChanges implements Changes {
  readonly areFree = false
  readonly #snapshot: () => Promise<string>

  constructor(snapshot: () => Promise<string>) {
    this.#snapshot = snapshot
  }

  mark(): Promise<string> {
    return this.#snapshot()
  }

  unchanged(since: Mark, now: Mark): boolean {
    return since === now
  }
}
