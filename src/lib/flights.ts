interface Flight {
  result: Promise<unknown>
  ending: AbortController
  waiting: number
}

/** Work that several want at the same moment is done once, and given up once nobody wants it any more. */
export class Flights {
  readonly #underWay = new Map<string, Flight>()

  /** The result of `work` under this key, begun now or before; rejects with the reason of `signal` once that is aborted. */
  async join<T>(
    key: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    const flight = this.#underWay.get(key) ?? this.#begin(key, work)
    flight.waiting += 1
    const { promise: left, reject } = Promise.withResolvers<never>()
    const leave = () => reject(signal?.reason)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      return (await Promise.race([flight.result, left])) as T
    } finally {
      signal?.removeEventListener('abort', leave)
      flight.waiting -= 1
      if (flight.waiting === 0) this.#end(key, flight)
    }
  }

  #begin<T>(key: string, work: (signal: AbortSignal) => Promise<T>): Flight {
    const ending = new AbortController()
    const flight: Flight = { result: work(ending.signal), ending, waiting: 0 }
    // Whoever waits is told; what fails after everybody has left is nobody's.
    flight.result.catch(() => {})
    this.#underWay.set(key, flight)
    return flight
  }

  /** Those who come later begin anew: what was given up is not theirs. */
  #end(key: string, flight: Flight): void {
    if (this.#underWay.get(key) === flight) this.#underWay.delete(key)
    flight.ending.abort()
  }
}
