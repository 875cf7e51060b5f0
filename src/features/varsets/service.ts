import { authorize, can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { RunVariable } from '../../engine/channel.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import * as projects from '../projects/service.ts'
import type { Var, VariableAttributes } from '../vars/service.ts'
import * as vars from '../vars/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { type Effective, merge } from './precedence.ts'
import { getManaged, managing } from './reading.ts'
import { type Kind, replace } from './scope.ts'
import type { Varset, VarsetVar } from './store.ts'
import * as store from './store.ts'
import { write } from './variables.ts'

// biome-ignore lint/performance/noBarrelFile: what the parts of this slice need too stands in a file below this one.
export { get, getManaged } from './reading.ts'
export type { Varset, VarsetVar } from './store.ts'

/** What a request says about a set; what is undefined stays as it is. */
export interface VarsetAttributes {
  name?: string | undefined
  description?: string | null | undefined
  global?: boolean | undefined
  priority?: boolean | undefined
  /** Replaces all. */
  workspaceIds?: readonly string[] | undefined
  /** Replaces all. */
  projectIds?: readonly string[] | undefined
  /** To be added, or by their ids changed. */
  variables?: readonly (VariableAttributes & { id?: string })[] | undefined
  /** Its owner, which is the organization unless it is a project of that. */
  parent?: { type: 'organizations' | 'projects'; id: string } | undefined
}

/** All sets of the organization, also those that projects own. */
export async function list(ctx: Ctx, organizationName: string, q: string | undefined, page: PageRequest) {
  const { id: organizationId } = await organizations.getByName(ctx, organizationName, 'variable-sets:read')
  return store.list(ctx.db, { organizationId }, q, page)
}

/** The sets that were given to a project or belong to it, and the global ones. */
export async function listOfProject(ctx: Ctx, id: string, q: string | undefined, page: PageRequest) {
  const { organizationId } = await projects.get(ctx, id, 'variable-sets:read')
  return store.list(ctx.db, { organizationId, projectId: id }, q, page)
}

/** The sets that apply to a workspace, for whatever reason. */
export async function listOfWorkspace(ctx: Ctx, id: string, q: string | undefined, page: PageRequest) {
  const { organizationId, projectId } = await workspaces.get(ctx, { id }, 'variables:read')
  return store.list(ctx.db, { organizationId, projectId, workspaceId: id }, q, page)
}

/** Those of the sets that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Varset[]> {
  const sets = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(sets.map((each) => can(ctx, 'variable-sets:read', each.organizationId)))
  return sets.filter((_, index) => visible[index])
}

export function create(
  ctx: Ctx,
  organizationName: string,
  {
    name,
    description,
    global = false,
    priority = false,
    parent,
    ...rest
  }: VarsetAttributes & { name: string },
): Promise<Varset> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'variable-sets:manage')
    const parentProjectId = await findParent(tx, organization, parent)
    await authorize(tx, managing(parentProjectId), organization.id)
    refuseGlobal(global, parentProjectId)
    const id = newId('varset')
    const now = tx.now()
    await store
      .insert(tx.db, {
        id,
        organizationId: organization.id,
        parentProjectId,
        name,
        description: description ?? '',
        global,
        priority,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseConflict)
    return finish(tx, 'create', id, rest)
  })
}

/** The project that is to own a set; null for the organization. */
async function findParent(
  tx: Ctx,
  organization: { id: string; name: string },
  parent: VarsetAttributes['parent'],
): Promise<string | null> {
  if (!parent) return null
  if (parent.type === 'organizations') {
    if (parent.id.toLowerCase() === organization.name.toLowerCase()) return null
    throw unknownParent()
  }
  const [project] = await store.listProjects(tx.db, organization.id, [parent.id])
  if (!project) throw unknownParent()
  return project.id
}

export function update(ctx: Ctx, id: string, attributes: VarsetAttributes): Promise<Varset> {
  return inTransaction(ctx, async (tx) => {
    const set = await getManaged(tx, id)
    if (!(await store.hold(tx.db, id))) throw notFound()
    const { name, description, global, priority, parent, ...rest } = attributes
    if (parent && (await findParent(tx, organizationOf(set), parent)) !== set.parentProjectId) {
      throw new AppError('invalid', 'Parent cannot be changed', { pointer: PARENT_POINTER })
    }
    refuseGlobal(global, set.parentProjectId)
    await store
      .update(tx.db, id, {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? '' }),
        ...(global !== undefined && { global }),
        ...(priority !== undefined && { priority }),
        updatedAt: tx.now(),
      })
      .catch(refuseConflict)
    if (global !== undefined) await spread(tx, set, global)
    return finish(tx, 'update', id, rest)
  })
}

const PARENT_POINTER = '/data/relationships/parent/data/id'

function organizationOf({ organizationId: id, organizationName: name }: Varset) {
  return { id, name }
}

/** Makes a set that the caller holds global or not, unless another global one has one of its variables. */
async function spread(tx: Ctx, { id, organizationId }: Varset, global: boolean): Promise<void> {
  if (global) {
    const own = await store.listVars(tx.db, [id])
    const others = await store.listGlobalVars(tx.db, organizationId, id)
    const twin = others.find(({ key, category }) =>
      own.some((each) => each.key === key && each.category === category),
    )
    if (twin) {
      throw new AppError(
        'invalid',
        `Global variable set ${twin.varsetName} has the variable ${twin.key} too`,
        {
          pointer: '/data/attributes/global',
        },
      )
    }
  }
  await store.setGlobalIn(tx.db, id, global ? organizationId : null).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error
    const detail = 'Another global variable set has one of the variables too'
    throw new AppError('invalid', detail, { pointer: '/data/attributes/global', cause: error })
  })
}

/** What follows the write of a set's row. */
async function finish(
  tx: Ctx,
  action: string,
  id: string,
  {
    workspaceIds,
    projectIds,
    variables,
  }: Pick<VarsetAttributes, 'workspaceIds' | 'projectIds' | 'variables'>,
): Promise<Varset> {
  const set = await reread(tx, id)
  const scopes: [Kind, readonly string[] | undefined][] = [
    ['workspaces', workspaceIds],
    ['projects', projectIds],
  ]
  for (const [kind, ids] of scopes) {
    if (ids) await replace(tx, set, kind, ids, `/data/relationships/${kind}/data`)
  }
  if (variables) await write(tx, set, variables, '/data/relationships/vars/data')
  await recordChange(tx, action, set)
  return reread(tx, id)
}

async function reread(tx: Ctx, id: string): Promise<Varset> {
  const set = await store.find(tx.db, id)
  if (!set) throw notFound()
  return set
}

export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const set = await getManaged(tx, id)
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', set)
  })
}

/** Everything that the runs of a workspace are given, its own and from sets, without what is overridden. */
export async function listEffective(ctx: Ctx, workspaceId: string): Promise<Effective<VarsetVar | Var>[]> {
  return effectiveOf(ctx, await workspaces.get(ctx, { id: workspaceId }, 'variables:read'))
}

interface Scoped {
  id: string
  organizationId: string
  projectId: string
}

async function effectiveOf(tx: Ctx, { id: workspaceId, organizationId, projectId }: Scoped) {
  const own = await vars.listOf(tx, { id: workspaceId })
  const sets = await store.listApplied(tx.db, { organizationId, projectId, workspaceId })
  const all = await store.listVars(
    tx.db,
    sets.map(({ id }) => id),
  )
  return merge(
    own,
    sets.map((set) => ({ set, variables: all.filter(({ varsetId }) => varsetId === set.id) })),
  )
}

/**
 * The variables of a workspace's run with their values, by precedence: one of each name. Those with `priority` beat
 * what the run was given on its way, which beats the others. For what the caller has authorized.
 */
export async function variablesOfRun(
  tx: Ctx,
  workspace: Scoped,
): Promise<{ terraform: RunVariable[]; environment: RunVariable[] }> {
  const effective = await effectiveOf(tx, workspace)
  const of = (wanted: 'terraform' | 'env') =>
    effective.flatMap(({ variable: { category, key, value, hcl, sensitive }, priority }) =>
      category === wanted ? [{ key, value: tx.vault.open(value), hcl, sensitive, priority }] : [],
    )
  return { terraform: of('terraform'), environment: of('env') }
}

function refuseGlobal(global: boolean | undefined, parentProjectId: string | null): void {
  const detail = 'Global cannot be set: the variable set belongs to a project'
  refuse(global && parentProjectId !== null ? [{ detail, pointer: '/data/attributes/global' }] : [])
}

function unknownParent(cause?: unknown): AppError {
  return new AppError('invalid', 'Parent does not exist', { pointer: PARENT_POINTER, cause })
}

/** The name may have been taken, and the project deleted, a moment ago. */
function refuseConflict(error: unknown): never {
  if (isForeignKeyViolation(error)) throw unknownParent(error)
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}

function recordChange(tx: Ctx, action: string, { id, organizationId, name }: Varset): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'varset', resourceId: id, meta: { name } })
}
