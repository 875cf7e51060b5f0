import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { addSeconds } from '../../lib/time.ts'
import * as audit from '../audit-trail/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { advance, type Changes } from './advance.ts'
import { executor, type Phase } from './executor.ts'
import * as queue from './queue.ts'
import { get } from './reading.ts'
import { allows, isDiscardable, type RunEvent, type RunStatus } from './status.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** Seconds that a run which was asked to stop gets for it, before it may be forced. */
const FORCE_AFTER_SECONDS = 10

/** When a canceled run may be forced; null when it cannot be. */
export function forceCancelAvailableAt(run: Run): string | null {
  return run.canceledAt && phaseUnderWay(run.status) ? addSeconds(run.canceledAt, FORCE_AFTER_SECONDS) : null
}

function phaseUnderWay(status: RunStatus): Phase | undefined {
  if (status === 'planning') return 'plan'
  return status === 'applying' ? 'apply' : undefined
}

/** What can be done with the run now, whoever may do it. */
export function actionsOf(run: Run, now: string) {
  const forceFrom = forceCancelAvailableAt(run)
  return {
    isCancelable: run.canceledAt === null && cancelEventOf(run.status) !== undefined,
    isConfirmable: allows('confirm', run.status),
    isDiscardable: isDiscardable(run.status),
    isForceCancelable: forceFrom !== null && forceFrom <= now,
  }
}

/** What cancels a run in this state. */
function cancelEventOf(status: RunStatus): RunEvent | undefined {
  const events = ['cancelPending', 'cancelPlan', 'cancelConfirmed', 'cancelApply'] as const
  return events.find((event) => allows(event, status))
}

/** Confirms the plan, which is then applied as soon as the workspace is the run's. */
export function apply(ctx: Ctx, id: string, comment?: string): Promise<Run> {
  return act(ctx, { id, comment }, 'runs:apply', 'apply', async (tx, run) => {
    const { kind, id: userId } = authorizeAnyone(tx)
    return confirm(tx, run, { run: { confirmedByUserId: kind === 'user' ? userId : null } })
  })
}

/** The same, by the server or by whom `changes` name. */
export async function confirm(tx: Ctx, run: Run, changes: Changes = {}): Promise<Run> {
  const confirmed = await advance(tx, run, 'confirm', changes)
  await queue.proceed(tx, run.workspaceId)
  return (await store.find(tx.db, run.id)) ?? confirmed
}

/** Gives up a plan that waits for a confirmation, or a run that waits to be planned. */
export function discard(ctx: Ctx, id: string, comment?: string): Promise<Run> {
  return act(ctx, { id, comment }, 'runs:apply', 'discard', (tx, run) => {
    const pending = allows('discardPending', run.status)
    return advance(tx, run, pending ? 'discardPending' : 'discard', { lastWords: 'The run was discarded.\n' })
  })
}

/** Stops the run: at once, or as soon as its worker has stopped gently. */
export function cancel(ctx: Ctx, id: string, comment?: string): Promise<Run> {
  return act(ctx, { id, comment }, 'runs:queue', 'cancel', async (tx, run) => {
    const event = cancelEventOf(run.status)
    if (!event || run.canceledAt)
      throw new AppError('conflict', `The run is ${run.status}${alreadyAsked(run)}.`)
    const phase = phaseOf(event)
    const canceledAt = tx.now()
    if (phase && !(await executor().stop(tx, run, phase, 'cancel'))) {
      await store.update(tx.db, id, { canceledAt })
      return { ...run, canceledAt }
    }
    return advance(tx, run, event, { run: { canceledAt }, lastWords: 'The run was canceled.\n' })
  })
}

function alreadyAsked({ canceledAt }: Run): string {
  return canceledAt ? ', and was asked to stop already' : '; it cannot be canceled now'
}

function phaseOf(event: RunEvent): Phase | undefined {
  if (event === 'cancelPlan') return 'plan'
  return event === 'cancelApply' ? 'apply' : undefined
}

/** Kills what a canceled run still does. */
export function forceCancel(ctx: Ctx, id: string, comment?: string): Promise<Run> {
  return act(ctx, { id, comment }, 'runs:force', 'force-cancel', async (tx, run) => {
    const phase = phaseUnderWay(run.status)
    const from = forceCancelAvailableAt(run)
    if (!phase || !from || from > tx.now()) {
      const why = from ? `can be forced to stop from ${from} on` : 'must be canceled before it can be forced'
      throw new AppError('conflict', `The run is ${run.status}; it ${why}.`)
    }
    if (!(await executor().stop(tx, run, phase, 'force'))) return run
    return advance(tx, run, phase === 'plan' ? 'forceCancelPlan' : 'forceCancelApply', {
      lastWords: 'The run was canceled by force.\n',
    })
  })
}

/** Ends every run that stands before a pending one, which then is the next. */
export function forceExecute(ctx: Ctx, id: string, comment?: string): Promise<Run> {
  return act(ctx, { id, comment }, 'runs:force', 'force-execute', async (tx, run) => {
    if (run.status !== 'pending')
      throw new AppError('conflict', `The run is ${run.status}; it does not wait.`)
    const before = (await store.listUnfinished(tx.db, run.workspaceId)).filter(
      (other) => other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id),
    )
    const busy = before.find((other) => !actionsOf(other, tx.now()).isDiscardable && queue.plansAlone(other))
    if (busy) throw new AppError('conflict', `Run ${busy.id} is ${busy.status}; cancel it first.`)
    for (const other of before.filter(queue.plansAlone)) {
      const event = allows('discard', other.status) ? 'discard' : 'discardPending'
      await advance(tx, other, event, { lastWords: `Run ${run.id} was executed by force instead.\n` })
    }
    await queue.proceed(tx, run.workspaceId)
    return (await store.find(tx.db, id)) ?? run
  })
}

/** Gives up saved plans that the workspace's state has left behind. */
export async function discardSaved(tx: Ctx, workspaceId: string, except: string | null): Promise<void> {
  for (const run of await store.listUnfinished(tx.db, workspaceId)) {
    if (run.status !== 'planned_and_saved' || run.id === except) continue
    await advance(tx, run, 'discard', { lastWords: 'The state has changed since this plan was saved.\n' })
  }
}

/** Called in the transaction of an action, with what its author had to say. */
type ActionListener = (tx: Ctx, run: Run, action: string, comment: string | undefined) => Promise<void>

const actionListeners = new Set<ActionListener>()

export function onAction(listener: ActionListener): void {
  actionListeners.add(listener)
}

function act(
  ctx: Ctx,
  { id, comment }: { id: string; comment: string | undefined },
  permission: Permission,
  action: string,
  work: (tx: Ctx, run: Run) => Promise<Run>,
): Promise<Run> {
  return inTransaction(ctx, async (tx) => {
    const { workspaceId } = await get(tx, id, permission)
    await workspaces.hold(tx, workspaceId)
    const run = await get(tx, id, permission)
    const result = await work(tx, run)
    const { organizationId, workspaceName } = run
    const meta = { workspace: workspaceName }
    await audit.record(tx, { action, organizationId, resourceType: 'run', resourceId: id, meta })
    for (const listener of actionListeners) await listener(tx, result, action, comment)
    return result
  })
}
