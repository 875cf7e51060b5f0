import { authorize, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { emptyPage, type PageRequest } from '../../lib/pagination.ts'
import type { Execution } from '../agent-pools/service.ts'
import * as agentPools from '../agent-pools/service.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import type { Binding, Owner, Owners } from '../tag-bindings/service.ts'
import * as tagBindings from '../tag-bindings/service.ts'
import type { Project, ProjectFilter } from './store.ts'
import * as store from './store.ts'

export type { Project, ProjectFilter } from './store.ts'

const DEFAULT_NAME = 'Default Project'

export interface ProjectAttributes {
  name: string
  description?: string | null
  autoDestroyActivityDuration?: string | null
  defaultExecutionMode?: string
  defaultAgentPoolId?: string | null
  /** False for the organization's execution mode and pool, true for the project's own. */
  overwritesExecutionMode?: boolean | undefined
  /** Replaces all bindings. */
  tagBindings?: readonly Binding[] | undefined
}

export async function list(ctx: Ctx, organizationName: string, filter: ProjectFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'organizations:browse')
  if (!(await can(ctx, 'projects:read', id))) return emptyPage(page)
  return store.list(ctx.db, id, filter, page)
}

/** The project, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'projects:read'): Promise<Project> {
  const project = await store.find(ctx.db, id)
  if (!project) throw notFound()
  await authorize(ctx, permission, project.organizationId)
  return project
}

/** Those of the projects that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Project[]> {
  const projects = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(projects.map((each) => can(ctx, 'projects:read', each.organizationId)))
  return projects.filter((_, index) => visible[index])
}

/** The project, if it is one of the organization and the subject may put workspaces there. */
export async function findForWorkspaces(
  ctx: Ctx,
  organizationId: string,
  id: string,
): Promise<Project | undefined> {
  const project = await store.find(ctx.db, id)
  if (project?.organizationId !== organizationId) return undefined
  return (await can(ctx, 'workspaces:manage', organizationId)) ? project : undefined
}

export function create(ctx: Ctx, organizationName: string, attributes: ProjectAttributes): Promise<Project> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'projects:manage')
    return insert(tx, organization, attributes)
  })
}

/** Gives a new organization the project that workspaces go to unless they name another. */
export async function createDefault(tx: Ctx, organization: Organization): Promise<void> {
  const { id } = await insert(tx, organization, { name: DEFAULT_NAME })
  await organizations.setDefaultProject(tx, organization.id, id)
}

async function insert(tx: Ctx, organization: Organization, attributes: ProjectAttributes): Promise<Project> {
  const { name, description, autoDestroyActivityDuration, tagBindings: bindings } = attributes
  const id = newId('prj')
  const now = tx.now()
  const row = {
    id,
    organizationId: organization.id,
    name,
    description: description ?? '',
    autoDestroyActivityDuration: autoDestroyActivityDuration ?? null,
    defaultExecutionMode: null,
    defaultAgentPoolId: null,
    ...(await chooseExecution(tx, attributes, id, organization)),
    createdAt: now,
    updatedAt: now,
  }
  await store.insert(tx.db, row).catch(refuseTakenName)
  return finish(tx, 'create', id, bindings)
}

export function update(ctx: Ctx, id: string, changes: Partial<ProjectAttributes>): Promise<Project> {
  return inTransaction(ctx, async (tx) => {
    const project = await get(tx, id, 'projects:manage')
    const { tagBindings: bindings, name, description, autoDestroyActivityDuration } = changes
    await store
      .update(tx.db, id, {
        ...(name !== undefined && { name }),
        ...(autoDestroyActivityDuration !== undefined && { autoDestroyActivityDuration }),
        ...(description !== undefined && { description: description ?? '' }),
        ...(await chooseExecution(tx, changes, id, organizationOf(project), project)),
        updatedAt: tx.now(),
      })
      .catch(refuseTakenName)
    return finish(tx, 'update', id, bindings)
  })
}

/** What follows the write of a project's row; 404 when somebody else has deleted it meanwhile. */
async function finish(
  tx: Ctx,
  action: string,
  id: string,
  bindings: readonly Binding[] | undefined,
): Promise<Project> {
  const written = await store.find(tx.db, id)
  if (!written) throw notFound()
  if (bindings) await tagBindings.replaceOn(tx, ownerOf(written), bindings, BINDINGS_POINTER)
  await recordChange(tx, action, written)
  return written
}

const BINDINGS_POINTER = '/data/relationships/tag-bindings/data'

/** Deletes a project without workspaces; the default project stays. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const project = await get(tx, id, 'projects:manage')
    if (project.id === project.defaultProjectId) {
      throw new AppError('forbidden', 'The default project cannot be deleted.')
    }
    if (project.workspaceCount > 0) throw holdsWorkspaces()
    const removed = await store.remove(tx.db, id).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? holdsWorkspaces(error) : error
    })
    if (!removed) throw notFound()
    await recordChange(tx, 'destroy', project)
  })
}

function holdsWorkspaces(cause?: unknown): AppError {
  return new AppError('forbidden', 'A project with workspaces cannot be deleted.', { cause })
}

/** Where runs of the project's workspaces take place unless they have their own. */
export function executionOf(project: Project): Execution {
  return ownExecutionOf(project) ?? inheritedExecutionOf(organizationOf(project))
}

function ownExecutionOf({ defaultExecutionMode: mode, defaultAgentPoolId: poolId }: Project) {
  return mode === null ? null : { mode, poolId }
}

type Inherited = Pick<Organization, 'id' | 'defaultExecutionMode' | 'defaultAgentPoolId'>

function organizationOf(project: Project): Inherited {
  const { organizationId: id, organizationExecutionMode, organizationAgentPoolId } = project
  return { id, defaultExecutionMode: organizationExecutionMode, defaultAgentPoolId: organizationAgentPoolId }
}

function inheritedExecutionOf({ defaultExecutionMode, defaultAgentPoolId }: Inherited): Execution {
  return { mode: defaultExecutionMode, poolId: defaultAgentPoolId }
}

/** The columns that a request changes. */
async function chooseExecution(
  tx: Ctx,
  given: Partial<ProjectAttributes>,
  projectId: string,
  organization: Inherited,
  before?: Project,
) {
  const choice = {
    mode: given.defaultExecutionMode,
    overwrites: given.overwritesExecutionMode,
    poolId: given.defaultAgentPoolId,
    pointer: '/data/attributes/default-agent-pool-id',
  }
  const chosen = await agentPools.chooseExecution(tx, organization.id, choice, {
    own: before ? ownExecutionOf(before) : null,
    inherited: inheritedExecutionOf(organization),
    target: { projectId },
  })
  if (chosen === undefined) return {}
  return { defaultExecutionMode: chosen?.mode ?? null, defaultAgentPoolId: chosen?.poolId ?? null }
}

export function ownerOf({ id, organizationId }: Project): Owner {
  return { kind: 'projects', id, organizationId }
}

/** For the slice of tag bindings, which stands below. */
export const bindingOwners: Owners = {
  kind: 'projects',
  get: async (ctx, id) => ownerOf(await get(ctx, id)),
  getManaged: async (ctx, id) => ownerOf(await get(ctx, id, 'projects:manage')),
}

function recordChange(tx: Ctx, action: string, { id, organizationId, name }: Project): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'project', resourceId: id, meta: { name } })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
