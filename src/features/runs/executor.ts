import type { Ctx } from '../../context.ts'
import type { Run } from './store.ts'

export type Phase = 'plan' | 'apply'

/** Who carries out the phases of runs; it stands above the runs, and registers itself. */
export interface Executor {
  /** Makes the phase available to workers, in the transaction that queues it. */
  queue: (tx: Ctx, run: Run, phase: Phase) => Promise<void>
  /**
   * Ends the phase: when no worker has begun it, at once, and the answer is true; otherwise the worker is told to
   * stop gently or by force, and says itself when it has.
   */
  stop: (tx: Ctx, run: Run, phase: Phase, how: 'cancel' | 'force') => Promise<boolean>
}

let registered: Executor | undefined

export function carryOutBy(executor: Executor): void {
  registered = executor
}

export function executor(): Executor {
  if (!registered) throw new Error('nobody carries out runs')
  return registered
}
