import type { Subject } from '../auth/subject.ts'
import { AppError } from '../lib/errors.ts'

/** An answer under way. */
interface Headers {
  header: (name: string, value: string | number) => unknown
}

interface Bucket {
  /** Requests that may be made at once; grows by `limit` a second, up to `limit`. */
  tokens: number
  /** Milliseconds of the monotonic clock when `tokens` was right. */
  at: number
}

/** Callers remembered at most; full buckets are forgotten beyond it, which changes nothing for their owners. */
const MAX_CALLERS = 10_000

/**
 * A token bucket for each user (however many tokens they have), team token, organization token, or address
 * without one. Tells what is left in the headers that clients pace themselves by. Each server counts for
 * itself.
 */
export class RateLimiter {
  readonly #limit: number
  readonly #clock: () => number
  readonly #buckets = new Map<string, Bucket>()

  /** `limit` is in requests per second, and so many may come at once; 0 turns it off. `clock` is in ms. */
  constructor(limit: number, clock: () => number = () => performance.now()) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Counts one request. Throws 429 when the caller has none left. */
  admit(subject: Subject | undefined, address: string, reply: Headers): void {
    if (this.#limit === 0) return
    const bucket = this.#refilled(subject ? `${subject.kind}:${subject.id}` : address)
    const admitted = bucket.tokens >= 1
    if (admitted) bucket.tokens -= 1
    const wait = Math.max(0, 1 - bucket.tokens) / this.#limit
    reply.header('x-ratelimit-limit', this.#limit)
    reply.header('x-ratelimit-remaining', Math.floor(bucket.tokens))
    // Seconds until the next request would be admitted; the Go client ends the process when it is no number.
    reply.header('x-ratelimit-reset', wait.toFixed(3))
    if (admitted) return
    reply.header('retry-after', Math.ceil(wait))
    throw new AppError('tooManyRequests', "You have exceeded the API's rate limit.")
  }

  #refilled(caller: string): Bucket {
    const now = this.#clock()
    const known = this.#buckets.get(caller)
    if (known) {
      known.tokens = this.#tokensAt(known, now)
      known.at = now
      return known
    }
    if (this.#buckets.size >= MAX_CALLERS) this.#forgetFull(now)
    const bucket = { tokens: this.#limit, at: now }
    this.#buckets.set(caller, bucket)
    return bucket
  }

  #tokensAt({ tokens, at }: Bucket, now: number): number {
    return Math.min(this.#limit, tokens + ((now - at) / 1000) * this.#limit)
  }

  #forgetFull(now: number): void {
    for (const [caller, bucket] of this.#buckets) {
      if (this.#tokensAt(bucket, now) >= this.#limit) this.#buckets.delete(caller)
    }
  }
}
