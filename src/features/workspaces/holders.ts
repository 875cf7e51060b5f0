import type { Ctx } from '../../context.ts'
import type { Holder } from './store.ts'
import * as store from './store.ts'

/** Who has locked a workspace. Clients look for "is locked by Run", "is locked by User" and "is locked by Team". */
export async function describeLock(
  ctx: Ctx,
  holder: Holder & { locked: boolean; lockedByRunId: string | null },
): Promise<string> {
  if (!holder.locked) return 'Workspace is not locked.'
  if (holder.lockedByRunId) {
    return `Workspace is locked by Run ${holder.lockedByRunId}. Cancel or discard the run, or wait until it has ended.`
  }
  const name = await store.findHolderName(ctx.db, holder)
  if (name === undefined) return 'Workspace is locked by somebody who no longer exists; force-unlock it.'
  return `Workspace is locked by ${holder.lockedByUserId ? 'User' : 'Team'} ${name}.`
}
