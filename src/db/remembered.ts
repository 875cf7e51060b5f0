import { LRUCache } from 'lru-cache'
import { type Changes, type Mark, noteTables, recordReads } from './changes.ts'
import type { Db, HasDatabase } from './transaction.ts'

interface Remembered {
  value: unknown
  mark: Mark
  tables: ReadonlySet<string>
}

const MAX_VALUES = 5_000

/** What was read from each database. */
const memories = new WeakMap<Changes, LRUCache<string, Remembered>>()

/**
 * What `read` returns, read again only when a table that it was read from has changed: for the few look-ups that
 * come with every request. `key` says what is looked up; nobody may change the value. Transactions read for
 * themselves, and so does everybody where asking what has changed would cost as much as reading.
 */
export async function remember<T>(ctx: HasDatabase, key: string, read: (db: Db) => Promise<T>): Promise<T> {
  const { changes } = ctx.connection
  const mark = ctx.db.isTransaction || !changes.areFree ? undefined : changes.mark()
  if (mark === undefined || typeof mark === 'object') return read(ctx.db)
  const memory = memoryOf(changes)
  const known = memory.get(key)
  if (known && changes.unchanged(known.mark, mark, known.tables)) {
    noteTables(known.tables)
    return known.value as T
  }
  const tables = new Set<string>()
  const value = await recordReads(tables, () => read(ctx.db))
  noteTables(tables)
  if (value !== undefined) memory.set(key, { value, mark, tables })
  return value
}

function memoryOf(changes: Changes): LRUCache<string, Remembered> {
  let memory = memories.get(changes)
  if (!memory) {
    memory = new LRUCache({ max: MAX_VALUES })
    memories.set(changes, memory)
  }
  return memory
}
