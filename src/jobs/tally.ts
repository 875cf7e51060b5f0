import type { Services } from '../context.ts'
import type { Connection } from '../db/connect.ts'
import { type Db, inTransaction } from '../db/transaction.ts'

/**
 * Until what was counted is written down. A crash loses as much; what is counted costs no query, and a busy server one
 * transaction in this time.
 */
const WRITE_MS = 1_000

/** What one server has counted and not written down yet. */
interface Waiting<T> {
  counts: Map<string, T>
  timer: NodeJS.Timeout | undefined
  writing: Promise<void>
}

/** Counts what happens too often to be written down each time; `add` gets what came together of each `keyOf`. */
export class Tally<T extends { count: number }> {
  /** By the connection that it will be written to: a process may have several servers. */
  readonly #waiting = new WeakMap<Connection, Waiting<T>>()
  readonly #keyOf: (counted: T) => string
  readonly #add: (db: Db, counted: readonly T[]) => Promise<void>

  constructor(keyOf: (counted: T) => string, add: (db: Db, counted: readonly T[]) => Promise<void>) {
    this.#keyOf = keyOf
    this.#add = add
  }

  /** Counts; it is written down within a second. */
  count(services: Services, counted: T): void {
    const waiting = this.#of(services)
    const key = this.#keyOf(counted)
    const known = waiting.counts.get(key)
    waiting.counts.set(key, known ? { ...counted, count: known.count + counted.count } : counted)
    waiting.timer ??= setTimeout(() => this.#write(services), WRITE_MS).unref()
  }

  /** Writes down all that was counted, as a server does that stops. */
  async writeAll(services: Services): Promise<void> {
    await this.#write(services)
    clearTimeout(this.#of(services).timer)
  }

  #of({ connection }: Services): Waiting<T> {
    const known = this.#waiting.get(connection)
    if (known) return known
    const waiting: Waiting<T> = { counts: new Map(), timer: undefined, writing: Promise.resolve() }
    this.#waiting.set(connection, waiting)
    return waiting
  }

  #write(services: Services): Promise<void> {
    const waiting = this.#of(services)
    waiting.writing = waiting.writing.then(() => this.#writeCounts(services, waiting))
    return waiting.writing
  }

  /** Where it fails, it is tried again with what is counted meanwhile. */
  async #writeCounts(services: Services, waiting: Waiting<T>): Promise<void> {
    clearTimeout(waiting.timer)
    waiting.timer = undefined
    // In one order, so that servers do not wait for each other in a circle.
    const counts = [...waiting.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted)
    waiting.counts.clear()
    if (counts.length === 0) return
    try {
      await inTransaction(services, (tx) => this.#add(tx.db, counts))
    } catch (error) {
      services.log.warn({ err: error }, 'what was counted was not written down yet')
      for (const counted of counts) this.count(services, counted)
    }
  }
}
