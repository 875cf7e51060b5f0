import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { addSeconds } from '../../lib/time.ts'
import * as runs from '../runs/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { conclude } from './endings.ts'
import type { Execution } from './store.ts'
import * as store from './store.ts'
import { isGone } from './worker.ts'

/**
 * A server that has not looked for so many seconds cannot tell silent workers from those that could not reach the
 * database any more than it could. A lease lasts longer than that when it was told last.
 */
const LONGEST_PAUSE_SECONDS = 20

/** When each server of this process has looked last. */
const lastLooks = new WeakMap<Ctx['connection'], string>()

/** Ends what dead workers have left, and starts what nobody started. */
export async function reap(ctx: Ctx): Promise<void> {
  const isAwake = noteLook(ctx)
  for (const execution of await store.listRunning(ctx.db)) {
    if (isForsaken(execution, ctx.now(), isAwake))
      await inTransaction(ctx, (tx) => bury(tx, execution, isAwake))
  }
  for (const workspaceId of await runs.listWaitingWorkspaces(ctx)) {
    await inTransaction(ctx, (tx) => runs.proceed(tx, workspaceId))
  }
}

/** Notes that this server looks, for which it could write just now; returns whether it has looked a moment ago. */
function noteLook({ connection, now }: Ctx): boolean {
  const last = lastLooks.get(connection)
  lastLooks.set(connection, now())
  return last !== undefined && addSeconds(last, LONGEST_PAUSE_SECONDS) > now()
}

/** Nobody has to wait for the lease of a worker whose process is known to be gone. */
function isForsaken({ leaseEndsAt, workerId }: Execution, now: string, isAwake: boolean): boolean {
  return (isAwake && (leaseEndsAt ?? '') < now) || isGone(workerId ?? '')
}

async function bury(tx: Ctx, { id, workspaceId }: Execution, isAwake: boolean): Promise<void> {
  await workspaces.hold(tx, workspaceId)
  const execution = await store.find(tx.db, id)
  if (execution?.state !== 'running' || !isForsaken(execution, tx.now(), isAwake)) return
  const error = `The worker stopped answering during the ${execution.phase}; it may have been killed.`
  await conclude(tx, execution, { status: 'errored', error }, `\nError: ${error}\n`)
}
