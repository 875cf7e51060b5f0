import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx, Services } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { newId } from '../lib/ids.ts'
import { addSeconds } from '../lib/time.ts'
import { ensureSchedule, type Job } from './job.ts'
import type { JobRow } from './store.ts'
import * as store from './store.ts'

/** How often an idle worker looks for work. */
const POLL_MS = 1_000

/** After this many failures a job waits for a person; by then it has been tried for about three days. */
const MAX_ATTEMPTS = 20

/** Jobs that run at the same moment in one server. */
const CONCURRENCY = 4

/**
 * Claims and runs jobs until it is stopped. Several servers on one database share the work: a claim is one
 * statement, and what a dead server had claimed comes back when its lease ends.
 */
export class Worker {
  readonly #services: Services
  readonly #jobs: Map<string, Job>
  readonly #stopping = new AbortController()
  #loops: Promise<void>[] = []

  constructor(services: Services, jobs: readonly Job[]) {
    this.#services = services
    this.#jobs = new Map(jobs.map((job) => [job.name, job]))
  }

  async start(): Promise<void> {
    await inTransaction(this.#services, async (tx) => {
      for (const job of this.#jobs.values()) await ensureSchedule(tx, job)
    })
    this.#services.metrics.gauge('plinth_jobs', 'Background jobs by state', 'state', () => this.#countJobs())
    this.#loops = Array.from({ length: CONCURRENCY }, () => this.#loop())
  }

  /** Stops claiming, tells running jobs to end, and waits until they have. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const worked = await this.runNext().catch((error: unknown) => {
        // The database is away, or full; it is asked again at the next turn.
        this.#services.log.warn({ err: error }, 'no job could be claimed')
        return false
      })
      if (!worked) await sleep(POLL_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    }
  }

  /** Runs one job if there is one that is due; returns whether there was. */
  async runNext(): Promise<boolean> {
    const row = await this.#claim()
    const job = row && this.#jobs.get(row.name)
    if (!row || !job) return false
    const lease = new AbortController()
    const heartbeat = setInterval(() => this.#heartbeat(row, job, lease), (job.leaseSeconds * 1000) / 3)
    const started = performance.now()
    try {
      const signal = AbortSignal.any([this.#stopping.signal, lease.signal])
      await job.run(this.#contextOf(row), JSON.parse(row.payload), signal)
      await this.#succeed(row, job)
      this.#services.metrics.jobEnded(job.name, 'succeeded', (performance.now() - started) / 1000)
    } catch (error) {
      await this.#fail(row, job, error)
      this.#services.metrics.jobEnded(job.name, 'failed', (performance.now() - started) / 1000)
    } finally {
      clearInterval(heartbeat)
    }
    return true
  }

  async #countJobs(): Promise<Map<string, number>> {
    const counts = await store.countByState(this.#services.db)
    return new Map(counts.map(({ state, count }) => [state, count]))
  }

  #claim(): Promise<JobRow | undefined> {
    const now = this.#services.now()
    return inTransaction(this.#services, async (tx) => {
      const row = await store.claim(tx.db, [...this.#jobs.keys()], now)
      const job = row && this.#jobs.get(row.name)
      if (row && job) await store.extend(tx.db, row, addSeconds(now, job.leaseSeconds))
      return row
    })
  }

  /** A claim that was lost (the process slept through its lease) must not go on beside the next one. */
  #heartbeat(row: JobRow, job: Job, lease: AbortController): void {
    inTransaction(this.#services, (tx) =>
      store.extend(tx.db, row, addSeconds(tx.now(), job.leaseSeconds)),
    ).then(
      (held) => held || lease.abort(new Error('the lease was lost')),
      (error: unknown) =>
        this.#services.log.warn({ err: error, job: row.name }, 'a lease could not be extended'),
    )
  }

  async #succeed(row: JobRow, job: Job): Promise<void> {
    await inTransaction(this.#services, async (tx) => {
      if (job.everySeconds === undefined) return store.remove(tx.db, row)
      const runAt = addSeconds(tx.now(), job.everySeconds)
      return store.release(tx.db, row, { runAt, lastError: null, attempts: 0 })
    })
  }

  async #fail(row: JobRow, job: Job, error: unknown): Promise<void> {
    const { log } = this.#services
    const interrupted = this.#stopping.signal.aborted
    const final = !interrupted && row.attempts >= MAX_ATTEMPTS && job.everySeconds === undefined
    const fields = { err: error, job: row.name, jobId: row.id, attempt: row.attempts }
    if (final) log.error(fields, 'a job has failed for good; its row in jobs says why')
    else log.warn(fields, interrupted ? 'a job was interrupted' : 'a job failed and will be tried again')
    await inTransaction(this.#services, (tx) =>
      store.release(tx.db, row, {
        // Doubling from two seconds, at most six hours; what a shutdown interrupted is not a failure.
        runAt: addSeconds(tx.now(), interrupted ? 0 : Math.min(2 ** row.attempts, 6 * 3600)),
        lastError: String((error as Error)?.message ?? error).slice(0, 1000),
        ...(final && { state: 'failed' as const }),
      }),
    ).catch((cause: unknown) =>
      log.warn({ err: cause, job: row.name }, 'a job comes back when its lease ends'),
    )
  }

  #contextOf(row: JobRow): Ctx {
    return {
      ...this.#services,
      subject: { kind: 'system', id: row.name },
      request: { id: newId('run'), authorized: false, access: new Map() },
    }
  }
}
