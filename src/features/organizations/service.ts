import { authorize, authorizeAnyone, authorizeUser, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { remember } from '../../db/remembered.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from './store.ts'
import * as store from './store.ts'

export type { Organization } from './store.ts'

/** What a caller may set. */
export type OrganizationAttributes = Partial<
  Omit<Organization, 'id' | 'name' | 'email' | 'defaultProjectId' | 'createdAt' | 'updatedAt'>
> & { name?: string; email?: string }

/** What is in force where runs of an organization take place, and what a request says of it. */
export type ChooseExecution = (
  tx: Ctx,
  organization: Organization,
  given: { mode: string | undefined; poolId: string | null | undefined },
) => Promise<{ mode: string; poolId: string | null } | undefined>

const executionHooks = new Set<ChooseExecution>()

/** Lets the slice that has the pools of agents say what may be chosen; `app.ts` registers it. */
export function onChooseExecution(hook: ChooseExecution): void {
  executionHooks.add(hook)
}

/** Called with each new organization, in the transaction that makes it. */
export type OnCreate = (tx: Ctx, organization: Organization, creatorId: string) => Promise<void>

const creationHooks = new Set<OnCreate>()

/** Lets a slice that builds on organizations give each new one what it needs; `app.ts` registers them. */
export function onCreate(hook: OnCreate): void {
  creationHooks.add(hook)
}

/** The organizations the subject is a member of, by name. */
export function list(ctx: Ctx, q: string | undefined, page: PageRequest) {
  const subject = authorizeAnyone(ctx)
  const member =
    subject.kind === 'user'
      ? { userId: subject.id }
      : { organizationId: subject.kind === 'team' ? subject.organizationId : subject.id }
  return store.list(ctx.db, { q, member }, page)
}

/** The organization called `name`, whatever the case, if the subject has `permission` there; 404 otherwise. */
export async function getByName(
  ctx: Ctx,
  name: string,
  permission: Permission = 'organizations:read',
): Promise<Organization> {
  const organization = await findByName(ctx, name)
  if (!organization) throw notFound()
  await authorize(ctx, permission, organization.id)
  return organization
}

/** The organization with this id, if the subject has `permission` there; 404 otherwise. */
export async function getById(ctx: Ctx, id: string, permission: Permission): Promise<Organization> {
  const organization = await store.find(ctx.db, id)
  if (!organization) throw notFound()
  await authorize(ctx, permission, id)
  return organization
}

/** The organization called `name`, whatever the case, for callers that then ask what the subject may do there. */
export function findByName(ctx: Ctx, name: string): Promise<Organization | undefined> {
  return remember(ctx, `organization ${name}`, (db) => store.findByName(db, name))
}

/** The organizations with these names that the subject may see. */
export async function listVisible(ctx: Ctx, names: readonly string[]): Promise<Organization[]> {
  const found = await Promise.all(
    names.map(async (name) => {
      const organization = await store.findByName(ctx.db, name)
      return organization && (await can(ctx, 'organizations:read', organization.id)) ? [organization] : []
    }),
  )
  return found.flat()
}

/** The organization that owns something the caller was authorized for. */
export async function ownerOf(
  ctx: Ctx,
  { organizationId }: { organizationId: string },
): Promise<Organization> {
  const organization = await store.find(ctx.db, organizationId)
  if (!organization) throw notFound()
  return organization
}

/** The names of the organizations that own things the caller was authorized for, by id. */
export async function listNames(
  ctx: Ctx,
  owned: readonly { organizationId: string }[],
): Promise<Map<string, string>> {
  const ids = [...new Set(owned.map(({ organizationId }) => organizationId))]
  return new Map((await store.listByIds(ctx.db, ids)).map(({ id, name }) => [id, name]))
}

/** Makes an organization with its creator as the only owner. Any user may. */
export function create(
  ctx: Ctx,
  { name, email, ...settings }: OrganizationAttributes & { name: string; email: string },
): Promise<Organization> {
  return inTransaction(ctx, async (tx) => {
    const creatorId = authorizeUser(tx)
    const now = tx.now()
    const created = { ...DEFAULTS, name, email, id: newId('org'), createdAt: now, updatedAt: now }
    const execution = await chooseExecution(tx, created, settings)
    const organization = await store
      .insert(tx.db, { ...created, ...settings, ...execution })
      .catch(refuseTakenName)
    for (const hook of creationHooks) await hook(tx, organization, creatorId)
    await recordChange(tx, 'create', organization)
    return (await store.find(tx.db, organization.id)) as Organization
  })
}

export function update(ctx: Ctx, name: string, changes: OrganizationAttributes): Promise<Organization> {
  return inTransaction(ctx, async (tx) => {
    const before = await getByName(tx, name, 'organizations:update')
    const execution = await chooseExecution(tx, before, changes)
    const organization = await store
      .update(tx.db, before.id, { ...changes, ...execution, updatedAt: tx.now() })
      .catch(refuseTakenName)
    await recordChange(tx, 'update', organization)
    return organization
  })
}

/** The columns that the request changes. */
async function chooseExecution(tx: Ctx, organization: Organization, changes: OrganizationAttributes) {
  const given = { mode: changes.defaultExecutionMode, poolId: changes.defaultAgentPoolId }
  for (const hook of executionHooks) {
    const chosen = await hook(tx, organization, given)
    if (chosen) return { defaultExecutionMode: chosen.mode, defaultAgentPoolId: chosen.poolId }
  }
  return { defaultAgentPoolId: organization.defaultAgentPoolId }
}

/** Called before an organization is deleted, in the same transaction. */
export type OnRemove = (tx: Ctx, organization: Organization) => Promise<void>

const removalHooks = new Set<OnRemove>()

/** Lets a slice that holds files of an organization remove them in time; `app.ts` registers it. */
export function onRemove(hook: OnRemove): void {
  removalHooks.add(hook)
}

/** Deletes an organization and all it holds. */
export function remove(ctx: Ctx, name: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const organization = await getByName(tx, name, 'organizations:delete')
    for (const hook of removalHooks) await hook(tx, organization)
    await recordChange(tx, 'destroy', organization)
    await store.remove(tx.db, organization.id)
  })
}

/** Sets the project that new workspaces go to; called by the slice that makes it. */
export async function setDefaultProject(tx: Ctx, id: string, defaultProjectId: string): Promise<void> {
  await store.update(tx.db, id, { defaultProjectId })
}

const DEFAULTS = {
  collaboratorAuthPolicy: 'password',
  sessionTimeout: null,
  sessionRemember: null,
  costEstimationEnabled: false,
  assessmentsEnforced: false,
  allowForceDeleteWorkspaces: false,
  speculativePlanManagementEnabled: true,
  aggregatedCommitStatusEnabled: true,
  sendPassingStatuses: false,
  defaultExecutionMode: 'remote',
  defaultProjectId: null,
  defaultAgentPoolId: null,
  providerVersionReuseEnabled: false,
} as const

function recordChange(tx: Ctx, action: string, { id, name }: Organization): Promise<void> {
  return audit.record(tx, { action, organizationId: id, resourceType: 'organization', resourceId: name })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
