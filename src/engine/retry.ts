import { setTimeout as sleep } from 'node:timers/promises'
import { LostExecution, StateRefused } from './channel.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000

interface Patience {
  /** Milliseconds after which the last failure is thrown; undefined is never. */
  forMs?: number | undefined
  /** Once it is aborted, nothing is tried again. */
  signal?: AbortSignal | undefined
}

/** Whether trying again cannot help. */
export function isFinal(error: unknown): boolean {
  return error instanceof LostExecution || error instanceof StateRefused
}

/** Calls until it succeeds, with growing pauses; what is final is thrown at once. */
export async function retry<T>(call: () => Promise<T>, { forMs, signal }: Patience = {}): Promise<T> {
  const started = performance.now()
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await call()
    } catch (error) {
      const left = forMs === undefined ? Number.POSITIVE_INFINITY : forMs - (performance.now() - started)
      if (isFinal(error) || left <= 0 || signal?.aborted) throw error
      await sleep(Math.min(pause, left), undefined, { ...(signal && { signal }) }).catch(() => {})
    }
  }
}
