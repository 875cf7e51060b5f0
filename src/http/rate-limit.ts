import type { FastifyReply } from 'fastify'
import type { Subject } from '../auth/subject.ts'
import { AppError } from '../lib/errors.ts'

interface Window {
  second: number
  used: number
}

/** Callers remembered at most; the table is emptied beyond it, which can only be too generous. */
const MAX_CALLERS = 100_000

/**
 * Requests per second for each user (however many tokens they have), team token, organization token, or
 * address without one. Says what is left in the headers that clients pace themselves by.
 */
export class RateLimiter {
  readonly #limit: number
  readonly #windows = new Map<string, Window>()

  /** `limit` is in requests per second; 0 turns it off. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one request. Throws 429 when the caller has used up this second. */
  admit(subject: Subject | undefined, address: string, reply: FastifyReply): void {
    if (this.#limit === 0) return
    const now = performance.now()
    const second = Math.floor(now / 1000)
    const reset = ((second + 1) * 1000 - now) / 1000
    const used = this.#count(subject ? `${subject.kind}:${subject.id}` : address, second)
    reply.header('x-ratelimit-limit', this.#limit)
    reply.header('x-ratelimit-remaining', Math.max(0, this.#limit - used))
    reply.header('x-ratelimit-reset', reset.toFixed(3))
    if (used <= this.#limit) return
    reply.header('retry-after', 1)
    throw new AppError('tooManyRequests', "You have exceeded the API's rate limit.")
  }

  #count(caller: string, second: number): number {
    const window = this.#windows.get(caller)
    if (window?.second === second) return ++window.used
    if (this.#windows.size >= MAX_CALLERS) this.#windows.clear()
    this.#windows.set(caller, { second, used: 1 })
    return 1
  }
}
