import type { Ctx } from '../context.ts'
import { newId } from '../lib/ids.ts'
import { addSeconds } from '../lib/time.ts'
import * as store from './store.ts'

/**
 * One kind of background work. Handlers are idempotent: after a crash, or when a lease ran out, the same job
 * is run again. Payloads are ids, never copies of what they name.
 */
export interface Job<P extends Record<string, string> = Record<string, string>> {
  name: string
  /** Seconds after which a worker that does not report back is taken for dead. */
  leaseSeconds: number
  /** For work that repeats: seconds from the end of one run to the next. */
  everySeconds?: number
  run: (ctx: Ctx, payload: P, signal: AbortSignal) => Promise<void>
}

/** Adds a job in the transaction of what causes it, so that it exists exactly when that happened. */
export async function enqueue<P extends Record<string, string>>(
  tx: Ctx,
  job: Job<P>,
  payload: P,
): Promise<void> {
  const now = tx.now()
  await store.insert(tx.db, { ...newRow(job.name, now), payload: JSON.stringify(payload) })
}

/** Makes sure that a job that repeats is in the table, once for however many servers share it. */
export async function ensureSchedule(tx: Pick<Ctx, 'db' | 'now'>, job: Job): Promise<void> {
  if (job.everySeconds === undefined) return
  const runAt = addSeconds(tx.now(), job.everySeconds)
  await store.insertSchedule(tx.db, { ...newRow(job.name, tx.now()), runAt, schedule: job.name })
}

function newRow(name: string, now: string) {
  return {
    id: newId('job'),
    name,
    payload: '{}',
    state: 'waiting' as const,
    runAt: now,
    attempts: 0,
    lastError: null,
    schedule: null,
    createdAt: now,
  }
}
