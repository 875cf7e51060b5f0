import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import { getManaged } from './reading.ts'
import type { Varset } from './store.ts'
import * as store from './store.ts'

/** What a set can be given to. */
export type Kind = 'workspaces' | 'projects'

/** Gives a set to workspaces or projects: to all of them, or to none. */
export function apply(ctx: Ctx, varsetId: string, kind: Kind, ids: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const set = await getScoped(tx, varsetId)
    await give(tx, set, kind, ids, '/data')
    await recordChange(tx, set)
  })
}

/** Takes a set away; from what does not have it, there is nothing to take. */
export function withdraw(ctx: Ctx, varsetId: string, kind: Kind, ids: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const set = await getScoped(tx, varsetId)
    await take(tx, set.id, kind, ids)
    await recordChange(tx, set)
  })
}

/** The set, held; refused if it is global and so applies to everything anyway. */
async function getScoped(tx: Ctx, id: string): Promise<Varset> {
  const set = await getManaged(tx, id)
  const held = await store.hold(tx.db, id)
  if (!held) throw notFound()
  if (held.global) throw new AppError('unprocessable', 'A global variable set applies to every workspace.')
  return set
}

/** Makes a set that the caller holds apply to exactly these. */
export async function replace(
  tx: Ctx,
  set: Varset,
  kind: Kind,
  ids: readonly string[],
  pointer: string,
): Promise<void> {
  await take(tx, set.id, kind)
  await give(tx, set, kind, ids, pointer)
}

async function give(
  tx: Ctx,
  set: Varset,
  kind: Kind,
  ids: readonly string[],
  pointer: string,
): Promise<void> {
  const { id, organizationId, parentProjectId } = set
  const found =
    kind === 'projects'
      ? await store.listProjects(tx.db, organizationId, ids)
      : await store.listWorkspaces(tx.db, organizationId, ids)
  const name = kind === 'projects' ? 'Project' : 'Workspace'
  refuse(
    ids.flatMap((id, index): Violation[] => {
      const one = found.find((each) => each.id === id)
      if (!one) return [{ detail: `${name} does not exist`, pointer: `${pointer}/${index}/id` }]
      if (parentProjectId === null || one.projectId === parentProjectId) return []
      const detail = `${name} is not ${kind === 'projects' ? '' : 'in '}the project that owns the variable set`
      return [{ detail, pointer: `${pointer}/${index}/id` }]
    }),
  )
  const insert = kind === 'projects' ? store.applyToProjects : store.applyToWorkspaces
  await insert(tx.db, id, ids).catch(refuseGone)
}

function take(tx: Ctx, id: string, kind: Kind, ids?: readonly string[]): Promise<void> {
  const remove = kind === 'projects' ? store.removeFromProjects : store.removeFromWorkspaces
  return remove(tx.db, id, ids)
}

function refuseGone(error: unknown): never {
  if (!isForeignKeyViolation(error)) throw error
  throw new AppError('conflict', 'A workspace or a project of this request was deleted just now.', {
    cause: error,
  })
}

function recordChange(tx: Ctx, { id, organizationId, name }: Varset): Promise<void> {
  const meta = { name }
  return audit.record(tx, { action: 'update', organizationId, resourceType: 'varset', resourceId: id, meta })
}
