import type { Ctx } from '../../context.ts'
import * as workspaces from '../workspaces/service.ts'
import { advanceIfAllowed } from './advance.ts'
import { executor } from './executor.ts'
import { isFinal } from './status.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** Whether the run needs its workspace for itself, from its plan on. Others need it at most to be applied. */
export function plansAlone({ planOnly, savePlan }: Pick<Run, 'planOnly' | 'savePlan'>): boolean {
  return !planOnly && !savePlan
}

/** Whether the run waits for its workspace: to be planned, or to have its saved plan applied. */
export function waitsForWorkspace(run: Run): boolean {
  return run.status === 'confirmed' || (run.status === 'pending' && plansAlone(run))
}

/**
 * Starts what can start in the workspace: every plan that changes nothing, and, unless the workspace is locked, the
 * run that has waited longest for it. Whoever changes what runs wait for calls this in the same transaction.
 */
export async function proceed(tx: Ctx, workspaceId: string): Promise<void> {
  const workspace = await workspaces.hold(tx, workspaceId)
  if (!workspace) return
  const waiting = (await store.listUnfinished(tx.db, workspaceId)).filter(
    ({ status }) => status === 'pending' || status === 'confirmed',
  )
  const uploaded = await store.listUploaded(
    tx.db,
    waiting.map((run) => run.configurationVersionId),
  )
  const ready = waiting.filter((run) => uploaded.has(run.configurationVersionId))
  for (const run of ready) {
    if (run.status === 'pending' && !plansAlone(run)) await queuePhase(tx, run)
  }
  const { locked, lockedByRunId } = workspace
  const next = locked ? ready.find(({ id }) => id === lockedByRunId) : ready.find(waitsForWorkspace)
  if (!next) return
  if (!locked) await workspaces.lockForRun(tx, workspaceId, next.id)
  await queuePhase(tx, next)
}

/** A run that has ended, or has saved its plan, may let others start. */
export async function proceedAfter(tx: Ctx, run: Run): Promise<void> {
  if (isFinal(run.status)) await proceed(tx, run.workspaceId)
}

async function queuePhase(tx: Ctx, run: Run): Promise<void> {
  const phase = run.status === 'pending' ? 'plan' : 'apply'
  const queued = await advanceIfAllowed(tx, run, phase === 'plan' ? 'queuePlan' : 'queueApply')
  if (queued) await executor().queue(tx, queued, phase)
}
