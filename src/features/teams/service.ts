import { accessTo, authorize, can } from '../../auth/authorize.ts'
import { GRANTS, type Grant, type Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import { covers, isVisible, parseGrants, visibleTeams } from './access.ts'
import {
  listGrantRefusals,
  listManageRefusals,
  listOwnersRefusals,
  type OrganizationAccess,
  type TeamAttributes,
} from './refusals.ts'
import type { Team } from './store.ts'
import * as store from './store.ts'

export type { TeamAttributes } from './refusals.ts'
export type { Team } from './store.ts'

/** The organization's teams that the subject may know of, by name. */
export async function list(
  ctx: Ctx,
  organizationName: string,
  filter: { q?: string | undefined; names?: string[] | undefined },
  page: PageRequest,
) {
  const { id } = await organizations.getByName(ctx, organizationName, 'teams:read')
  return store.list(ctx.db, id, { ...filter, visible: await visibleTeams(ctx, id) }, page)
}

/** The team, if the subject may know of it and has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'teams:read'): Promise<Team> {
  const team = await store.find(ctx.db, id)
  if (!team) throw notFound()
  await authorize(ctx, permission, team.organizationId)
  if (!(await isVisible(ctx, team))) throw notFound()
  return team
}

/** The team, if the subject has `permission` and no fewer rights than the team gives; 404 otherwise. */
export async function getManaged(ctx: Ctx, id: string, permission: Permission): Promise<Team> {
  const team = await get(ctx, id, permission)
  if (!(await covers(ctx, team))) throw notFound()
  return team
}

/** The team, if the subject may change anything of it; 404 otherwise. */
export async function getChangeable(ctx: Ctx, id: string): Promise<Team> {
  const team = await get(ctx, id)
  const manages = await can(ctx, 'teams:manage', team.organizationId)
  return getManaged(ctx, id, manages ? 'teams:manage' : 'teams:manage-organization-access')
}

/**
 * Whether the subject may have tokens of the team: with the permission, or as a member of a team that leaves
 * its tokens to its members. A team's token does not count as a member: it could outlive itself.
 */
export async function hasTokens(ctx: Ctx, team: Team): Promise<boolean> {
  const { teamIds } = await accessTo(ctx, team.organizationId)
  const isOwn = ctx.subject?.kind === 'user' && teamIds.includes(team.id)
  if (isOwn && team.allowMemberTokenManagement) return true
  return (await can(ctx, 'team-tokens:manage', team.organizationId)) && covers(ctx, team)
}

/** The teams of an organization of which the subject may have tokens. */
export async function listIdsWithTokens(ctx: Ctx, organizationId: string): Promise<string[]> {
  const ids: string[] = []
  const visible = await visibleTeams(ctx, organizationId)
  for (const team of await store.listVisible(ctx.db, organizationId, visible)) {
    if (await hasTokens(ctx, team)) ids.push(team.id)
  }
  return ids
}

/** The id of the organization that a team belongs to, for callers that were authorized for the team. */
export async function organizationOf(ctx: Ctx, id: string): Promise<string> {
  const team = await store.find(ctx.db, id)
  if (!team) throw notFound()
  return team.organizationId
}

/** The team, if the subject may have tokens of it; 404 otherwise. */
export async function getWithTokens(ctx: Ctx, id: string): Promise<Team> {
  const team = await get(ctx, id)
  if (!(await hasTokens(ctx, team))) throw notFound()
  return team
}

/** Those of the teams that the subject may know of. */
export async function listByIds(ctx: Ctx, ids: readonly string[]): Promise<Team[]> {
  const visible: Team[] = []
  for (const team of await store.listByIds(ctx.db, ids)) {
    if (await isVisible(ctx, team)) visible.push(team)
  }
  return visible
}

/** The ids of the teams that each membership is in, as far as the subject may know of them. */
export async function listOfMemberships(
  ctx: Ctx,
  membershipIds: readonly string[],
): Promise<Map<string, string[]>> {
  const teamIds = new Map<string, string[]>()
  for (const { membershipId, ...team } of await store.listOfMemberships(ctx.db, membershipIds)) {
    if (!(await isVisible(ctx, team))) continue
    teamIds.set(membershipId, [...(teamIds.get(membershipId) ?? []), team.id])
  }
  return teamIds
}

/** Gives a new organization its owners team, with the creator's membership in it. */
export async function createOwners(tx: Ctx, organizationId: string, membershipId: string): Promise<void> {
  const owners = await store.insert(tx.db, {
    ...newTeam(tx, organizationId, { name: 'owners', allowMemberTokenManagement: true }),
    isOwners: true,
  })
  await store.addMember(tx.db, owners.id, membershipId)
}

export function create(ctx: Ctx, organizationName: string, attributes: TeamAttributes): Promise<Team> {
  return inTransaction(ctx, async (tx) => {
    const { id } = await organizations.getByName(tx, organizationName, 'teams:manage')
    refuse(await listGrantRefusals(tx, id, [], attributes.organizationAccess))
    const team = await store.insert(tx.db, newTeam(tx, id, attributes)).catch(refuseTakenName)
    await recordChange(tx, 'create', team)
    return team
  })
}

export function update(ctx: Ctx, id: string, changes: Partial<TeamAttributes>): Promise<Team> {
  return inTransaction(ctx, async (tx) => {
    const team = await getChangeable(tx, id)
    const { organizationAccess, ...others } = changes
    const granted = parseGrants(team.organizationAccess)
    refuse([
      ...listOwnersRefusals(team, changes),
      ...(await listGrantRefusals(tx, team.organizationId, granted, organizationAccess)),
      ...(await listManageRefusals(tx, team, others)),
    ])
    const changed = await store
      .update(tx.db, id, {
        ...others,
        ...(organizationAccess &&
          !team.isOwners && { organizationAccess: merge(granted, organizationAccess) }),
        updatedAt: tx.now(),
      })
      .catch(refuseTakenName)
    if (!changed) throw notFound()
    await recordChange(tx, 'update', changed)
    return changed
  })
}

/** Deletes a team with its tokens; its members stay in the organization. The owners team stays. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const team = await getManaged(tx, id, 'teams:manage')
    if (team.isOwners) throw new AppError('conflict', 'The owners team cannot be deleted.')
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', team)
  })
}

/** The team, if it is of the organization and the subject may put members into it. */
export async function findJoinable(ctx: Ctx, organizationId: string, id: string): Promise<Team | undefined> {
  const [team] = await listByIds(ctx, [id])
  if (team?.organizationId !== organizationId) return undefined
  const allowed = await can(ctx, 'teams:manage-membership', organizationId)
  return allowed && (await covers(ctx, team)) ? team : undefined
}

/** Puts a membership into a team. Part of a change that the caller authorized. */
export async function join(tx: Ctx, team: Team, membershipId: string): Promise<void> {
  const isNew = await store.addMember(tx.db, team.id, membershipId).catch((error: unknown) => {
    // Another request deleted the team, or ended the membership, in the meantime.
    throw isForeignKeyViolation(error) ? notFound() : error
  })
  if (isNew) await recordMember(tx, 'create', team, membershipId)
}

/**
 * Takes memberships out of a team. Part of a change that the caller authorized. 409 when nobody who can use
 * the organization would be left in its owners team; its row is locked so that two cannot leave at once.
 */
export async function leave(tx: Ctx, team: Team, membershipIds: readonly string[]): Promise<void> {
  if (team.isOwners) await store.lock(tx.db, team.id, tx.now())
  for (const membershipId of membershipIds) {
    if (!(await store.removeMember(tx.db, team.id, membershipId))) continue
    await recordMember(tx, 'destroy', team, membershipId)
  }
  if (!team.isOwners) return
  const left = await store.listMembers(tx.db, [team.id])
  if (!left.some((member) => member.userId)) {
    throw new AppError('conflict', 'The owners team must keep at least one member.')
  }
}

/** The owners teams that the memberships are in. Part of a change that the caller authorized. */
export function listOwnersTeams(tx: Ctx, membershipIds: readonly string[]): Promise<Team[]> {
  return store.listOwnersTeams(tx.db, membershipIds)
}

function newTeam(
  tx: Ctx,
  organizationId: string,
  { organizationAccess = {}, ...attributes }: TeamAttributes,
) {
  const now = tx.now()
  return {
    ssoTeamId: null,
    visibility: 'secret',
    allowMemberTokenManagement: true,
    ...attributes,
    id: newId('team'),
    organizationId,
    isOwners: false,
    organizationAccess: merge([], organizationAccess),
    createdAt: now,
    updatedAt: now,
  } as const
}

function merge(granted: readonly Grant[], changes: OrganizationAccess): string {
  return JSON.stringify(GRANTS.filter((grant) => changes[grant] ?? granted.includes(grant)))
}

function recordChange(tx: Ctx, action: string, { id, organizationId, name }: Team): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'team', resourceId: id, meta: { name } })
}

function recordMember(tx: Ctx, action: string, team: Team, membershipId: string): Promise<void> {
  return audit.record(tx, {
    action,
    organizationId: team.organizationId,
    resourceType: 'team_membership',
    resourceId: membershipId,
    meta: { team: team.id },
  })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
