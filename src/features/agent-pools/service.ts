import { authorize, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import { type Choice, type Execution, executionOf } from './execution.ts'
import type { AgentPool, AgentPoolFilter, Target } from './store.ts'
import * as store from './store.ts'

export type { Execution } from './execution.ts'
export type { AgentPool, AgentPoolFilter } from './store.ts'

/** What a caller may set; what is undefined stays as it is. */
export interface AgentPoolAttributes {
  name?: string | undefined
  /** Whether every workspace of the organization may use it. */
  organizationScoped?: boolean | undefined
  allowedWorkspaceIds?: readonly string[] | undefined
  allowedProjectIds?: readonly string[] | undefined
  excludedWorkspaceIds?: readonly string[] | undefined
}

export async function list(ctx: Ctx, organizationName: string, filter: AgentPoolFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'agent-pools:read')
  return store.list(ctx.db, id, filter, page)
}

/** The pool, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  id: string,
  permission: Permission = 'agent-pools:read',
): Promise<AgentPool> {
  const pool = await store.find(ctx.db, id)
  if (!pool) throw notFound()
  await authorize(ctx, permission, pool.organizationId)
  return pool
}

/** Those of the pools that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<AgentPool[]> {
  const pools = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(pools.map((each) => can(ctx, 'agent-pools:read', each.organizationId)))
  return pools.filter((_, index) => visible[index])
}

/** Makes a pool, for every workspace of the organization unless `organizationScoped` is false. */
export function create(
  ctx: Ctx,
  organizationName: string,
  { name, organizationScoped = true, ...scope }: AgentPoolAttributes & { name: string },
): Promise<AgentPool> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'agent-pools:manage')
    const id = newId('apool')
    await store
      .insert(tx.db, { id, organizationId: organization.id, name, organizationScoped, createdAt: tx.now() })
      .catch(refuseTakenName)
    return finish(tx, 'create', id, organization.id, scope)
  })
}

/** Changes a pool. What uses it already goes on doing so, whatever its new scope. */
export function update(ctx: Ctx, id: string, attributes: AgentPoolAttributes): Promise<AgentPool> {
  return inTransaction(ctx, async (tx) => {
    const { organizationId } = await get(tx, id, 'agent-pools:manage')
    const { name, organizationScoped, ...scope } = attributes
    await store.hold(tx.db, id)
    await store
      .update(tx.db, id, {
        ...(name !== undefined && { name }),
        ...(organizationScoped !== undefined && { organizationScoped }),
      })
      .catch(refuseTakenName)
    return finish(tx, 'update', id, organizationId, scope)
  })
}

async function finish(
  tx: Ctx,
  action: string,
  id: string,
  organizationId: string,
  scope: Omit<AgentPoolAttributes, 'name' | 'organizationScoped'>,
): Promise<AgentPool> {
  const { allowedWorkspaceIds: workspaces, allowedProjectIds: projects, excludedWorkspaceIds } = scope
  refuse([
    ...(await foreignersAmong(tx, 'workspaces', organizationId, workspaces, 'allowed-workspaces')),
    ...(await foreignersAmong(tx, 'projects', organizationId, projects, 'allowed-projects')),
    ...(await foreignersAmong(tx, 'workspaces', organizationId, excludedWorkspaceIds, 'excluded-workspaces')),
  ])
  if (workspaces) await store.replaceWorkspaces(tx.db, id, [...new Set(workspaces)])
  if (projects) await store.replaceProjects(tx.db, id, [...new Set(projects)])
  if (excludedWorkspaceIds) await store.replaceExclusions(tx.db, id, [...new Set(excludedWorkspaceIds)])
  const written = await store.find(tx.db, id)
  if (!written) throw notFound()
  await recordChange(tx, action, written)
  return written
}

async function foreignersAmong(
  tx: Ctx,
  kind: 'workspaces' | 'projects',
  organizationId: string,
  ids: readonly string[] = [],
  relationship: string,
) {
  const own = new Set(await store.listOwn(tx.db, kind, organizationId, ids))
  const detail = `${kind === 'projects' ? 'Project' : 'Workspace'} does not exist`
  return ids.flatMap((id, index) =>
    own.has(id) ? [] : [{ detail, pointer: `/data/relationships/${relationship}/data/${index}/id` }],
  )
}

/** Deletes a pool that nothing uses, with its agents and their tokens. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const pool = await get(tx, id, 'agent-pools:manage')
    await store.hold(tx.db, id)
    const users = await store.listUsers(tx.db, id)
    if (users.length > 0) throw inUse(users.join(', '))
    const removed = await store.remove(tx.db, id).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? inUse('workspaces or projects', error) : error
    })
    if (!removed) throw notFound()
    await recordChange(tx, 'destroy', pool)
  })
}

function inUse(by: string, cause?: unknown): AppError {
  return new AppError('unprocessable', `Agent pool is in use by ${by}, and cannot be deleted.`, { cause })
}

/** What a workspace has to say of where its runs take place. */
interface Placed {
  id: string
  projectId: string
  executionMode: string | null
  agentPoolId: string | null
  inheritedExecutionMode: string
  inheritedAgentPoolId: string | null
}

/** Where runs of a workspace take place: by its own choice, or else by that of what it belongs to. */
export function effectiveExecutionOf(workspace: Placed): Execution {
  return workspace.executionMode === null
    ? { mode: workspace.inheritedExecutionMode, poolId: workspace.inheritedAgentPoolId }
    : { mode: workspace.executionMode, poolId: workspace.agentPoolId }
}

/**
 * The pool whose agents carry out the runs of a workspace; undefined when no agents do, and when the pool that
 * it inherits is not for it. For what the caller has authorized.
 */
export async function ofWorkspace(
  tx: Ctx,
  workspace: Placed,
): Promise<{ id: string; name: string } | undefined> {
  const { mode, poolId } = effectiveExecutionOf(workspace)
  const pool = mode === 'agent' && poolId ? await store.find(tx.db, poolId) : undefined
  if (!pool) return undefined
  const isInherited = workspace.executionMode === null
  if (isInherited && pool.excludedWorkspaceIds.includes(workspace.id)) return undefined
  return { id: pool.id, name: pool.name }
}

/**
 * Where what belongs to `organizationId` wants its runs: null to inherit, undefined to leave it as it is. `own` is
 * what it has itself, `inherited` what it would get. Throws when the mode and the pool do not go together, or when
 * the pool is not for `target`; without one, it has to be for every workspace. Part of a change that the caller has
 * authorized.
 */
export async function chooseExecution(
  tx: Ctx,
  organizationId: string,
  choice: Choice,
  { own, inherited, target }: { own: Execution | null; inherited?: Execution; target?: Target },
): Promise<Execution | null | undefined> {
  const chosen = executionOf(choice, own, inherited)
  const poolId = chosen === undefined && choice.moved ? own?.poolId : chosen?.poolId
  if (!poolId || (poolId === own?.poolId && !choice.moved)) return chosen
  const usable = target
    ? await store.isUsable(tx.db, poolId, organizationId, target)
    : await isForAll(tx, poolId, organizationId)
  if (!usable) {
    const detail = target
      ? 'Agent pool does not exist, or is not for this'
      : 'Agent pool does not exist, or is not for the whole organization'
    throw new AppError('invalid', detail, { pointer: choice.pointer })
  }
  return chosen
}

async function isForAll(tx: Ctx, id: string, organizationId: string): Promise<boolean> {
  const pool = await store.hold(tx.db, id)
  return pool?.organizationId === organizationId && pool.organizationScoped
}

/** For the slice of organizations, which stands below. */
export async function chooseForOrganization(
  tx: Ctx,
  organization: Organization,
  given: { mode: string | undefined; poolId: string | null | undefined },
): Promise<Execution | undefined> {
  const own = { mode: organization.defaultExecutionMode, poolId: organization.defaultAgentPoolId }
  const choice = {
    ...given,
    overwrites: undefined,
    pointer: '/data/relationships/default-agent-pool/data/id',
  }
  return (await chooseExecution(tx, organization.id, choice, { own })) ?? undefined
}

function recordChange(tx: Ctx, action: string, { id, organizationId, name }: AgentPool): Promise<void> {
  const change = { action, organizationId, resourceType: 'agent_pool', resourceId: id, meta: { name } }
  return audit.record(tx, change)
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
