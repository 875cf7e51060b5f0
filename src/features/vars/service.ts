import { can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { WorkspaceRef } from '../workspaces/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { changesOf, columnsOf, refuseConflict, type VariableAttributes } from './columns.ts'
import type { Var } from './store.ts'
import * as store from './store.ts'

// biome-ignore lint/performance/noBarrelFile: sets of variables follow the same rules, and reach this slice here only.
export { changesOf, columnsOf, refuseConflict, shownValue, type VariableAttributes } from './columns.ts'
export type { Var } from './store.ts'
export type { VariableColumns } from './table.ts'

const POINTER = '/data/attributes'

/** The workspace's own variables, all of them, in the order they were made. */
export async function list(ctx: Ctx, ref: WorkspaceRef): Promise<Var[]> {
  const { id } = await workspaces.get(ctx, ref, 'variables:read')
  return store.listOfWorkspace(ctx.db, id)
}

/** The variables of every workspace whose variables the subject may see, organization by organization. */
export async function listEverywhere(ctx: Ctx): Promise<Var[]> {
  const found: Var[] = []
  for (let number = 1, total = 1; (number - 1) * 100 < total; number++) {
    const page = await organizations.list(ctx, undefined, new PageRequest(String(number), '100'))
    for (const { id } of page.items) {
      if (await can(ctx, 'variables:read', id)) found.push(...(await store.listOfOrganization(ctx.db, id)))
    }
    total = page.totalCount
  }
  return found
}

/** A workspace's own variables, for what the caller has authorized. */
export function listOf(tx: Ctx, workspace: { id: string }): Promise<Var[]> {
  return store.listOfWorkspace(tx.db, workspace.id)
}

/** Those of the variables that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Var[]> {
  const found = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(found.map((each) => can(ctx, 'variables:read', each.organizationId)))
  return found.filter((_, index) => visible[index])
}

/** How a path names a variable: within its workspace, or alone. */
export interface VarRef {
  id: string
  workspaceId?: string
}

/** The variable, if the subject has `permission` for its workspace; 404 otherwise. */
export async function get(ctx: Ctx, ref: VarRef, permission: Permission = 'variables:read'): Promise<Var> {
  const variable = await store.find(ctx.db, ref.id)
  const workspaceId = ref.workspaceId ?? variable?.workspaceId
  if (workspaceId === undefined) throw notFound()
  await workspaces.get(ctx, { id: workspaceId }, permission)
  if (variable?.workspaceId !== workspaceId) throw notFound()
  return variable
}

export function create(ctx: Ctx, workspaceId: string, attributes: VariableAttributes): Promise<Var> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await workspaces.get(tx, { id: workspaceId }, 'variables:manage')
    const columns = columnsOf(tx, attributes, POINTER)
    await store.insert(tx.db, { ...columns, workspaceId: workspace.id }).catch(refuseConflict(POINTER))
    return finish(tx, 'create', columns.id)
  })
}

/** Changes a variable; also without a change it gets a new version. */
export function update(ctx: Ctx, ref: VarRef, attributes: VariableAttributes): Promise<Var> {
  return inTransaction(ctx, async (tx) => {
    const { id } = await get(tx, ref, 'variables:manage')
    const before = await store.hold(tx.db, id)
    if (!before) throw notFound()
    const changes = changesOf(tx, before, attributes, POINTER)
    await store.update(tx.db, id, changes).catch(refuseConflict(POINTER))
    return finish(tx, 'update', id)
  })
}

async function finish(tx: Ctx, action: string, id: string): Promise<Var> {
  const written = await store.find(tx.db, id)
  if (!written) throw notFound()
  await recordChange(tx, action, written)
  return written
}

export function remove(ctx: Ctx, ref: VarRef): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const variable = await get(tx, ref, 'variables:manage')
    if (!(await store.remove(tx.db, variable.id))) throw notFound()
    await recordChange(tx, 'destroy', variable)
  })
}

/** Never with the value, sensitive or not. */
function recordChange(tx: Ctx, action: string, variable: Var): Promise<void> {
  const { id: resourceId, organizationId, workspaceId, key, category } = variable
  const meta = { key, category, workspace: workspaceId }
  return audit.record(tx, { action, organizationId, resourceType: 'var', resourceId, meta })
}
