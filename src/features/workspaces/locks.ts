import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { describeLock } from './holders.ts'
import * as service from './service.ts'
import type { Holder, Workspace } from './store.ts'
import * as store from './store.ts'

/** Locks a workspace for the subject, a user or a team; of several at once one succeeds. */
export function lock(ctx: Ctx, id: string, reason: string | null): Promise<Workspace> {
  return change(ctx, id, 'lock', async (tx) => {
    if (await store.lock(tx.db, id, holderOf(tx), reason)) return
    await service.reread(tx, id)
    throw new AppError('conflict', 'Workspace is already locked.')
  })
}

/** Called in the transaction in which somebody unlocks a workspace, with force or because the lock is theirs. */
type UnlockListener = (tx: Ctx, workspaceId: string, forced: boolean) => Promise<void>

const unlockListeners = new Set<UnlockListener>()

/** What waits for the workspace may go on; a listener that throws keeps it locked. */
export function onUnlock(listener: UnlockListener): void {
  unlockListeners.add(listener)
}

/** Unlocks a workspace that the subject has locked. */
export function unlock(ctx: Ctx, id: string): Promise<Workspace> {
  return change(ctx, id, 'unlock', async (tx) => {
    if (await store.unlock(tx.db, id, holderOf(tx))) return tellUnlocked(tx, id, false)
    const workspace = await service.reread(tx, id)
    throw new AppError('conflict', workspace.locked ? await describeLock(tx, workspace) : UNLOCKED)
  })
}

/** Unlocks a workspace whoever has locked it, except a run: that has to end. */
export function forceUnlock(ctx: Ctx, id: string): Promise<Workspace> {
  return change(ctx, id, 'force-unlock', async (tx) => {
    if (await store.unlock(tx.db, id)) return tellUnlocked(tx, id, true)
    const workspace = await service.reread(tx, id)
    throw new AppError('conflict', workspace.locked ? await describeLock(tx, workspace) : UNLOCKED)
  })
}

async function tellUnlocked(tx: Ctx, id: string, forced: boolean): Promise<void> {
  for (const listener of unlockListeners) await listener(tx, id, forced)
}

const UNLOCKED = 'Workspace is already unlocked.'

const PERMISSIONS = {
  lock: 'workspaces:lock',
  unlock: 'workspaces:lock',
  'force-unlock': 'workspaces:manage',
} as const

function change(
  ctx: Ctx,
  id: string,
  action: keyof typeof PERMISSIONS,
  write: (tx: Ctx) => Promise<void>,
): Promise<Workspace> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await service.get(tx, { id }, PERMISSIONS[action])
    await write(tx)
    await service.recordChange(tx, action, workspace)
    return service.reread(tx, id)
  })
}

/** Organization tokens cannot lock: nobody could be asked to unlock again. */
function holderOf(ctx: Ctx): Holder {
  const { kind, id } = authorizeAnyone(ctx)
  return { lockedByUserId: kind === 'user' ? id : null, lockedByTeamId: kind === 'team' ? id : null }
}
