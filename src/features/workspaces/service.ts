import { can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { emptyPage, type PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import * as projects from '../projects/service.ts'
import type { Binding, Owner, Owners } from '../tag-bindings/service.ts'
import * as tagBindings from '../tag-bindings/service.ts'
import type { NamedTag } from '../tags/service.ts'
import * as tags from '../tags/service.ts'
import { authorizeIn, permits } from './readers.ts'
import { chooseExecution, toColumns, violationsOf, type WorkspaceSettings } from './settings.ts'
import type { Workspace, WorkspaceFilter } from './store.ts'
import * as store from './store.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only.
export { describeLock } from './holders.ts'
export type { Workspace, WorkspaceFilter } from './store.ts'

/** How a path names a workspace. */
export type WorkspaceRef = { id: string } | { organizationName: string; name: string }

/** What a request says about a workspace; what is undefined stays as it is. */
export interface WorkspaceAttributes {
  settings: WorkspaceSettings
  projectId?: string | undefined
  /** Replaces all bindings. */
  tagBindings?: readonly Binding[] | undefined
  /** Flat tags to add. */
  tags?: readonly NamedTag[] | undefined
}

export async function list(ctx: Ctx, organizationName: string, filter: WorkspaceFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'organizations:browse')
  if (!(await can(ctx, 'workspaces:read', id))) return emptyPage(page)
  return store.list(ctx.db, id, filter, page)
}

/** The workspace, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  ref: WorkspaceRef,
  permission: Permission = 'workspaces:read',
): Promise<Workspace> {
  const workspace = await find(ctx, ref, permission)
  if (!workspace) throw notFound()
  await authorizeIn(ctx, workspace, permission)
  return workspace
}

async function find(ctx: Ctx, ref: WorkspaceRef, permission: Permission): Promise<Workspace | undefined> {
  if ('id' in ref) return store.find(ctx.db, ref.id)
  // The program of a run may read some of the workspaces, and nothing that is about all of them.
  const needed = ctx.subject?.kind === 'run' ? 'organizations:read' : permission
  const { id } = await organizations.getByName(ctx, ref.organizationName, needed)
  return store.findByName(ctx.db, id, ref.name)
}

/** Those of the workspaces that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Workspace[]> {
  const workspaces = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(workspaces.map((each) => permits(ctx, each, 'workspaces:read')))
  return workspaces.filter((_, index) => visible[index])
}

/** The ids of those of the workspaces in which the subject has `permission`. */
export async function readableAmong(
  ctx: Ctx,
  ids: readonly string[],
  permission: Permission,
): Promise<Set<string>> {
  const workspaces = await store.listByIds(ctx.db, [...new Set(ids)])
  const permitted = await Promise.all(workspaces.map((each) => permits(ctx, each, permission)))
  return new Set(workspaces.flatMap(({ id }, index) => (permitted[index] ? id : [])))
}

/** Makes a workspace in the project named, or else in the organization's default project. */
export function create(
  ctx: Ctx,
  organizationName: string,
  attributes: WorkspaceAttributes & { settings: { name: string } },
): Promise<Workspace> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'workspaces:manage')
    refuse(violationsOf(attributes.settings))
    const project = await findProject(tx, organization, attributes.projectId)
    const id = newId('ws')
    const now = tx.now()
    await store
      .insert(tx.db, {
        ...DEFAULTS,
        ...toColumns(attributes.settings),
        ...(await chooseExecution(tx, attributes.settings, organization.id, {
          projectId: project.id,
          inherited: projects.executionOf(project),
        })),
        id,
        organizationId: organization.id,
        projectId: project.id,
        name: attributes.settings.name,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseConflict)
    return finish(tx, 'create', id, attributes)
  })
}

/** Changes a workspace; with another project, moves it there, where overrides of reserved keys may result. */
export function update(ctx: Ctx, ref: WorkspaceRef, attributes: WorkspaceAttributes): Promise<Workspace> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await get(tx, ref, 'workspaces:manage')
    refuse(violationsOf(attributes.settings))
    const { id, organizationId } = workspace
    const moved = attributes.projectId !== undefined && attributes.projectId !== workspace.projectId
    const project = moved && (await findProject(tx, { id: organizationId }, attributes.projectId))
    await store
      .update(tx.db, id, {
        ...toColumns(attributes.settings),
        ...(await chooseExecution(tx, attributes.settings, organizationId, {
          projectId: project ? project.id : workspace.projectId,
          inherited: { mode: workspace.inheritedExecutionMode, poolId: workspace.inheritedAgentPoolId },
          before: workspace,
        })),
        ...(project && { projectId: project.id }),
        updatedAt: tx.now(),
      })
      .catch(refuseConflict)
    return finish(tx, 'update', id, attributes)
  })
}

async function findProject(
  tx: Ctx,
  organization: Pick<Organization, 'id'> & Partial<Organization>,
  projectId = organization.defaultProjectId ?? '',
) {
  const project = await projects.findForWorkspaces(tx, organization.id, projectId)
  if (!project) throw unknownProject()
  return project
}

/** What follows the write of a workspace's row. */
async function finish(
  tx: Ctx,
  action: string,
  id: string,
  { tagBindings: bindings, tags: names }: WorkspaceAttributes,
): Promise<Workspace> {
  const written = await reread(tx, id)
  if (bindings) {
    await tagBindings.replaceOn(tx, ownerOf(written), bindings, '/data/relationships/tag-bindings/data')
  }
  if (names) await tags.attach(tx, written, names, '/data/relationships/tags/data')
  await recordChange(tx, action, written)
  return reread(tx, id)
}

/** Moves workspaces into a project of their organization: all of them, or none. */
export function move(ctx: Ctx, projectId: string, ids: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { organizationId } = await projects.get(tx, projectId, 'workspaces:manage')
    const found = await store.listByIds(tx.db, ids)
    const ours = new Set(found.flatMap((each) => (each.organizationId === organizationId ? each.id : [])))
    refuse(
      ids.flatMap((id, index) =>
        ours.has(id) ? [] : [{ detail: 'Workspace does not exist', pointer: `/data/${index}/id` }],
      ),
    )
    for (const id of ours) await update(tx, { id }, { settings: {}, projectId })
  })
}

/** Deletes a workspace, locked or not. */
export function remove(ctx: Ctx, ref: WorkspaceRef): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await get(tx, ref, 'workspaces:manage')
    if (!(await store.remove(tx.db, workspace.id))) throw notFound()
    await recordChange(tx, 'destroy', workspace)
  })
}

/** Deletes a workspace that nobody has locked, and whose state says that it manages nothing. */
export function removeSafely(ctx: Ctx, ref: WorkspaceRef): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await get(tx, ref, 'workspaces:manage')
    if (workspace.resourceCount > 0)
      throw new AppError(
        'conflict',
        `Workspace is still managing resources (${workspace.resourceCount}). Destroy them, or delete it without safety.`,
      )
    if (!(await store.remove(tx.db, workspace.id, true))) {
      await reread(tx, workspace.id)
      throw new AppError('conflict', 'Workspace is currently locked. Unlock it before you delete it.')
    }
    await recordChange(tx, 'destroy', workspace)
  })
}

/** The workspace as the transaction has left it; 404 when somebody else has deleted it meanwhile. */
export async function reread(tx: Ctx, id: string): Promise<Workspace> {
  const workspace = await store.find(tx.db, id)
  if (!workspace) throw notFound()
  return workspace
}

/**
 * The lock of a workspace, held still until the transaction ends: whoever decides by it takes it first, so that two
 * decisions about one workspace come one after the other. Undefined when the workspace is gone.
 */
export function hold(tx: Ctx, id: string) {
  return store.hold(tx.db, id)
}

/** Gives an unlocked workspace, which the caller holds, to a run. */
export function lockForRun(tx: Ctx, id: string, runId: string): Promise<void> {
  return store.lockForRun(tx.db, id, runId)
}

/** Takes it back, if it is the run's. */
export function unlockOfRun(tx: Ctx, id: string, runId: string): Promise<void> {
  return store.unlockOfRun(tx.db, id, runId)
}

/** Chooses the key with which runs fetch modules, or none; the caller has authorized it. */
export async function useSshKey(tx: Ctx, workspace: Workspace, sshKeyId: string | null): Promise<Workspace> {
  await store.update(tx.db, workspace.id, { sshKeyId, updatedAt: tx.now() })
  await recordChange(tx, 'update', workspace)
  return reread(tx, workspace.id)
}

export function ownerOf({ id, organizationId, projectId }: Workspace): Owner {
  return { kind: 'workspaces', id, organizationId, projectId }
}

/** For the slice of tag bindings, which stands below. */
export const bindingOwners: Owners = {
  kind: 'workspaces',
  get: async (ctx, id) => ownerOf(await get(ctx, { id })),
  getManaged: async (ctx, id) => ownerOf(await get(ctx, { id }, 'workspaces:manage')),
}

const DEFAULTS = {
  description: null,
  executionMode: null,
  agentPoolId: null,
  terraformVersion: 'latest',
  workingDirectory: '',
  autoApply: false,
  autoApplyRunTrigger: false,
  allowDestroyPlan: true,
  assessmentsEnabled: false,
  fileTriggersEnabled: true,
  globalRemoteState: false,
  projectRemoteState: false,
  queueAllRuns: false,
  speculativeEnabled: true,
  structuredRunOutputEnabled: true,
  triggerPrefixes: '[]',
  triggerPatterns: '[]',
  sourceName: null,
  sourceUrl: null,
  autoDestroyAt: null,
  autoDestroyActivityDuration: null,
  inheritsProjectAutoDestroy: true,
  locked: false,
  lockedReason: null,
  lockedByUserId: null,
  lockedByTeamId: null,
} as const

/** Writes down what was done to a workspace; part of a change that the caller has authorized. */
export function recordChange(tx: Ctx, action: string, workspace: Workspace): Promise<void> {
  const { id: resourceId, organizationId, name } = workspace
  return audit.record(tx, { action, organizationId, resourceType: 'workspace', resourceId, meta: { name } })
}

function unknownProject(cause?: unknown): AppError {
  return new AppError('invalid', 'Project does not exist', {
    pointer: '/data/relationships/project/data/id',
    cause,
  })
}

/** The name may have been taken, and the project deleted, a moment ago. */
function refuseConflict(error: unknown): never {
  if (isForeignKeyViolation(error)) throw unknownProject(error)
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
