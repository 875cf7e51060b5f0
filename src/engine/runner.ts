import { setTimeout as sleep } from 'node:timers/promises'
import { type Assignment, type Channel, LostExecution } from './channel.ts'
import { execute } from './execute.ts'
import { clearLeftovers } from './leftovers.ts'
import type { EngineOptions } from './options.ts'
import { retry } from './retry.ts'
import { Stop } from './stop.ts'

const HEARTBEAT_MS = 1_000
const GRACE_MS = 60_000
/** An apply that is another's may still write down what it has made. */
const LOST_GRACE_MS = 5_000

/** How long a claim is waited with after one that failed. */
const PAUSE_MS = 500

/** The same after one that brought nothing. It waits itself; this is for channels that come back at once. */
const BREATH_MS = 10

/** How long the server is tried to be reached once the worker is to end. */
const LAST_WORDS_MS = 30_000

/** Characters of a directory for runs: in one of a run, the path of a socket must stay below 108. */
const LONGEST_PATH = 64

export interface RunnerOptions extends EngineOptions {
  /** Runs that are carried out at the same moment. */
  workers: number
  heartbeatMs?: number
}

/** Carries out runs that it gets by the channel, until it is stopped. */
export class Runner {
  readonly #channel: Channel
  readonly #options: RunnerOptions
  readonly #claiming = new AbortController()
  /** Aborted when it is too late for anything. */
  readonly #ending = new AbortController()
  readonly #stops = new Set<Stop>()
  #loops: Promise<void>[] = []

  constructor(channel: Channel, options: RunnerOptions) {
    this.#channel = channel
    this.#options = options
  }

  start(): void {
    if (this.#options.workDir.length > LONGEST_PATH) {
      const message = 'providers may be unable to open their sockets, whose paths would be too long'
      this.#options.log.warn({ path: this.#options.workDir, most: LONGEST_PATH }, message)
    }
    const cleared = clearLeftovers(this.#channel, this.#options, this.#claiming.signal).catch(
      (error: unknown) =>
        this.#options.log.error({ err: error }, 'what a killed worker left behind could not be removed'),
    )
    this.#loops = Array.from({ length: this.#options.workers }, async () => {
      await cleared
      await this.#loop()
    })
  }

  /** Interrupts what is carried out, and waits until its state is saved and its end was told. */
  async stop(): Promise<void> {
    this.#claiming.abort()
    for (const stop of this.#stops) stop.request('worker')
    const timer = setTimeout(() => this.#ending.abort(), (this.#options.graceMs ?? GRACE_MS) + LAST_WORDS_MS)
    await Promise.all(this.#loops)
    clearTimeout(timer)
  }

  async #loop(): Promise<void> {
    const { signal } = this.#claiming
    while (!signal.aborted) {
      let pause = BREATH_MS
      const assignment = await this.#channel.claim(signal).catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn({ err: error }, 'no run could be claimed')
        pause = PAUSE_MS
        return undefined
      })
      if (assignment) await this.#carryOut(assignment)
      else await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }

  async #carryOut(assignment: Assignment): Promise<void> {
    const { graceMs = GRACE_MS, log } = this.#options
    const stop = new Stop({ ms: graceMs, lostMs: assignment.phase === 'apply' ? LOST_GRACE_MS : 0 })
    this.#stops.add(stop)
    // It was claimed in the moment in which the worker was stopped.
    if (this.#claiming.signal.aborted) stop.request('worker')
    const timeout = setTimeout(
      () => stop.request('timeout'),
      Math.min(assignment.timeout * 1000, 2 ** 31 - 1),
    )
    const done = new AbortController()
    const heartbeats = this.#beat(assignment, stop, done.signal)
    try {
      const outcome = await execute(assignment, this.#channel, this.#options, stop, this.#ending.signal)
      if (outcome.status === 'errored') await this.#hold(assignment)
      await retry(() => this.#channel.finish(assignment.executionId, outcome), {
        signal: this.#ending.signal,
      })
    } catch (error) {
      const lost = error instanceof LostExecution
      const fields = { run: assignment.run.id, ...(!lost && { err: error }) }
      log.warn(fields, lost ? 'a run was given to another worker' : 'the end of a run could not be told')
    } finally {
      done.abort()
      await heartbeats
      clearTimeout(timeout)
      stop.end()
      this.#stops.delete(stop)
    }
  }

  /** Says that the worker lives, and hears whether it shall stop. */
  async #beat({ executionId, run }: Assignment, stop: Stop, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const wanted = await this.#channel.heartbeat(executionId)
        if (wanted && !signal.aborted) stop.request(wanted)
      } catch (error) {
        if (error instanceof LostExecution) return stop.request('lost')
        this.#options.log.warn({ err: error, run: run.id }, 'a heartbeat failed')
      }
      await sleep(this.#options.heartbeatMs ?? HEARTBEAT_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** Clients that follow a run must have seen the phase before it ends badly. */
  async #hold({ holdFailureUntil }: Assignment): Promise<void> {
    // A timer may end a millisecond before the clock has moved on by its time.
    const left = Date.parse(holdFailureUntil ?? '') + 1 - Date.now()
    if (left > 0) await sleep(left, undefined, { signal: this.#ending.signal }).catch(() => {})
  }
}
