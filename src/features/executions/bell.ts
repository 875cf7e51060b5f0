import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes the workers of this process when something is queued. Those of others look once a second. */
let rung = Promise.withResolvers<void>()

export function ring(): void {
  rung.resolve()
  rung = Promise.withResolvers()
}

/** Resolves when something is queued in this process, after `ms` at the latest, or when it is aborted. */
export async function waitForBell(ms: number, signal: AbortSignal): Promise<void> {
  const timer = new AbortController()
  const either = AbortSignal.any([signal, timer.signal])
  await Promise.race([rung.promise, sleep(ms, undefined, { signal: either }).catch(() => {})])
  timer.abort()
}
