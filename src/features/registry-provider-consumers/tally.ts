import type { Services } from '../../context.ts'
import type { Connection } from '../../db/connect.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Downloads } from './store.ts'
import * as store from './store.ts'

/**
 * Until what was counted is written down. A crash loses as much; a download costs no query, and a busy server one
 * transaction in this time.
 */
const WRITE_MS = 1_000

/** What one server has counted and not written down yet. */
interface Tally {
  counts: Map<string, Downloads>
  timer: NodeJS.Timeout | undefined
  writing: Promise<void>
}

/** By the connection that it will be written to: a process may have several servers. */
const tallies = new WeakMap<Connection, Tally>()

function tallyOf({ connection }: Services): Tally {
  const known = tallies.get(connection)
  if (known) return known
  const tally: Tally = { counts: new Map(), timer: undefined, writing: Promise.resolve() }
  tallies.set(connection, tally)
  return tally
}

/** Counts downloads; they are written down within a second. */
export function count(services: Services, counted: Downloads): void {
  const tally = tallyOf(services)
  const key = [counted.platformId, counted.subjectKind, counted.subjectId].join(' ')
  const known = tally.counts.get(key)
  tally.counts.set(key, known ? { ...counted, count: known.count + counted.count } : counted)
  tally.timer ??= setTimeout(() => write(services), WRITE_MS).unref()
}

/** Writes down all that was counted, as a server does that stops. */
export async function writeAll(services: Services): Promise<void> {
  await write(services)
  clearTimeout(tallyOf(services).timer)
}

function write(services: Services): Promise<void> {
  const tally = tallyOf(services)
  tally.writing = tally.writing.then(() => writeCounts(services, tally))
  return tally.writing
}

/** Where it fails, it is tried again with what is counted meanwhile. */
async function writeCounts(services: Services, tally: Tally): Promise<void> {
  clearTimeout(tally.timer)
  tally.timer = undefined
  // In one order, so that servers do not wait for each other in a circle.
  const counts = [...tally.counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted)
  tally.counts.clear()
  if (counts.length === 0) return
  try {
    await inTransaction(services, (tx) => store.add(tx.db, counts))
  } catch (error) {
    services.log.warn({ err: error }, 'downloads were not written down yet')
    for (const counted of counts) count(services, counted)
  }
}
