import type { Ctx } from '../../context.ts'
import { AppError } from '../../lib/errors.ts'
import type { PhaseStatus } from '../../lib/phases.ts'
import * as applies from '../applies/service.ts'
import * as logs from '../logs/service.ts'
import * as plans from '../plans/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { isFinal, type RunEvent, TRANSITIONS, timestampOf } from './status.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

type Details<F extends (...args: never[]) => unknown> = Parameters<F>[5]

/** What changes together with the status. */
export interface Changes {
  run?: Omit<Parameters<typeof store.update>[2], 'statusTimestamps'>
  plan?: Details<typeof plans.move>
  apply?: Details<typeof applies.move>
  /** The last words of the logs that end with this. */
  lastWords?: string
}

/** Called in the transaction in which something happens to a run, with the run as it then is. */
type Listener = (tx: Ctx, run: Run, event: RunEvent) => Promise<void>

const listeners = new Set<Listener>()

export function onEvent(listener: Listener): void {
  listeners.add(listener)
}

/**
 * Lets `event` happen to the run: the one place that changes the status of a run, its plan and its apply. Each
 * change compares what it replaces, and writes its moment; a run that ends gives its workspace back. Throws 409
 * when the run is not in a state in which it can happen.
 */
export async function advance(tx: Ctx, run: Run, event: RunEvent, changes: Changes = {}): Promise<Run> {
  const advanced = await advanceIfAllowed(tx, run, event, changes)
  if (advanced) return advanced
  const { status } = (await store.find(tx.db, run.id)) ?? run
  throw new AppError('conflict', `The run is ${status}; this cannot be done with it now.`)
}

/** The same; undefined when it cannot happen (any more). */
export async function advanceIfAllowed(
  tx: Ctx,
  run: Run,
  event: RunEvent,
  changes: Changes = {},
): Promise<Run | undefined> {
  const { run: step, ...phases }: (typeof TRANSITIONS)[keyof typeof TRANSITIONS] = TRANSITIONS[event]
  const current = await store.find(tx.db, run.id)
  if (!current || !(step.from as readonly string[]).includes(current.status)) return undefined
  const statusTimestamps = stamped(current.statusTimestamps, step.to, tx.now())
  const moved = await store.move(tx.db, run.id, current.status, {
    ...changes.run,
    status: step.to,
    statusTimestamps,
  })
  if (!moved) return undefined
  await movePhases(tx, current, phases, changes)
  if (isFinal(step.to)) await workspaces.unlockOfRun(tx, current.workspaceId, current.id)
  const advanced = { ...current, ...changes.run, status: step.to, statusTimestamps } as Run
  for (const listener of listeners) await listener(tx, advanced, event)
  return advanced
}

interface Phases {
  plan?: { from: readonly PhaseStatus[]; to: PhaseStatus }
  apply?: { from: readonly PhaseStatus[]; to: PhaseStatus }
}

async function movePhases(tx: Ctx, run: Run, { plan, apply }: Phases, changes: Changes): Promise<void> {
  const now = tx.now()
  const moved = [
    plan &&
      (await plans.move(
        tx,
        run.planId,
        plan.from,
        plan.to,
        (old) => stamped(old, plan.to, now),
        changes.plan,
      )),
    apply &&
      (await applies.move(
        tx,
        run.applyId,
        apply.from,
        apply.to,
        (old) => stamped(old, apply.to, now),
        changes.apply,
      )),
  ]
  if (moved.includes(false)) throw new Error(`the phases of ${run.id} are not where the run is`)
  if (plan && hasEnded(plan.to)) await logs.end(tx, run.planId, changes.lastWords)
  if (apply && hasEnded(apply.to)) await logs.end(tx, run.applyId, plan ? undefined : changes.lastWords)
}

function hasEnded(status: PhaseStatus): boolean {
  return !['pending', 'queued', 'running'].includes(status)
}

function stamped(timestamps: string, status: string, now: string): string {
  return JSON.stringify({ ...JSON.parse(timestamps), [timestampOf(status)]: now })
}
