import type { RunningProgram } from './process.ts'

/** Why a phase is stopped, and how: people asked, gently or not; the worker ends; it took too long; it is another's. */
export type StopReason = 'cancel' | 'force' | 'worker' | 'timeout' | 'lost'

/** Later ones replace earlier ones only where they are stronger. */
const STRENGTH: Record<StopReason, number> = { cancel: 1, worker: 2, timeout: 2, force: 3, lost: 4 }

/** Thrown between the steps of a phase that is to be stopped. */
export class Stopped extends Error {
  override name = 'Stopped'
}

interface Grace {
  /** How long an interrupted engine may take to end, where people have not asked for it. */
  ms: number
  /** The same once the execution is another's. */
  lostMs: number
}

/** Stops a phase: the program that is at work now, and every later step. */
export class Stop {
  readonly #grace: Grace
  readonly #timers: NodeJS.Timeout[] = []
  #reason: StopReason | undefined
  #program: RunningProgram | undefined
  #interrupted = false

  constructor(grace: Grace) {
    this.#grace = grace
  }

  get reason(): StopReason | undefined {
    return this.#reason
  }

  /** Interrupts once, however often it is asked; kills where it is asked for, or after a while. */
  request(reason: StopReason): void {
    if (this.#reason && STRENGTH[reason] <= STRENGTH[this.#reason]) return
    this.#reason = reason
    this.#act()
    if (reason === 'cancel' || reason === 'force') return
    const grace = reason === 'lost' ? this.#grace.lostMs : this.#grace.ms
    this.#timers.push(setTimeout(() => this.#program?.kill(), grace))
  }

  /** Makes a program the one that is stopped, until it has ended. */
  async during<T>(program: RunningProgram, ended: Promise<T>): Promise<T> {
    this.#program = program
    this.#interrupted = false
    this.#act()
    try {
      return await ended
    } finally {
      this.#program = undefined
    }
  }

  /** Throws once the phase is to be stopped. */
  check(): void {
    if (this.#reason) throw new Stopped(this.#reason)
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #act(): void {
    if (!this.#reason || !this.#program) return
    if (this.#reason === 'force') this.#program.kill()
    else if (!this.#interrupted) this.#program.interrupt()
    this.#interrupted = true
  }
}
