import { accessTo, authorize, authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import * as teams from '../teams/service.ts'
import type { User } from '../users/service.ts'
import * as users from '../users/service.ts'
import type { MembershipFilter, OrganizationMembership } from './store.ts'
import * as store from './store.ts'

export type { OrganizationMembership } from './store.ts'

/** The organization's members and invitations, oldest first. */
export async function list(
  ctx: Ctx,
  organizationName: string,
  filter: Pick<MembershipFilter, 'emails' | 'status' | 'q'>,
  page: PageRequest,
) {
  const { id } = await organizations.getByName(ctx, organizationName, 'organization-memberships:read')
  return store.list(ctx.db, { ...filter, organizationId: id }, page)
}

/** The memberships of the user whose token is used. */
export async function listOwn(ctx: Ctx, page: PageRequest) {
  return store.list(ctx.db, { userId: authorizeUser(ctx) }, page)
}

/** The memberships that are in a team which the subject may know of. */
export async function listOfTeam(
  ctx: Ctx,
  teamId: string,
  filter: Pick<MembershipFilter, 'status'>,
  page: PageRequest,
) {
  const { id } = await teams.get(ctx, teamId)
  return store.list(ctx.db, { ...filter, teamId: id }, page)
}

/** Those of the memberships whose organization the subject is in. */
export async function listByIds(ctx: Ctx, ids: readonly string[]): Promise<OrganizationMembership[]> {
  const visible: OrganizationMembership[] = []
  for (const membership of await store.listByIds(ctx.db, ids)) {
    const { member } = await accessTo(ctx, membership.organizationId)
    if (member) visible.push(membership)
  }
  return visible
}

export async function get(ctx: Ctx, id: string): Promise<OrganizationMembership> {
  const membership = await store.find(ctx.db, id)
  if (!membership) throw notFound()
  await authorize(ctx, 'organization-memberships:read', membership.organizationId)
  return membership
}

/**
 * Takes an address into the organization and into teams: its user at once, or, when nobody has the address
 * yet, whoever gets it later.
 */
export function create(
  ctx: Ctx,
  organizationName: string,
  { email, teamIds }: { email: string; teamIds: readonly string[] },
): Promise<OrganizationMembership> {
  return inTransaction(ctx, async (tx) => {
    const { id: organizationId } = await organizations.getByName(
      tx,
      organizationName,
      'organization-memberships:manage',
    )
    const violations = (await store.isKnown(tx.db, organizationId, email)) ? [TAKEN] : []
    const joined = await findTeams(tx, organizationId, teamIds, violations)
    refuse(violations)
    const user = await users.findByEmail(tx, email)
    const id = await insert(tx, organizationId, user ? { userId: user.id } : { invitedEmail: email })
    for (const team of joined) await teams.join(tx, team, id)
    return (await store.find(tx.db, id)) as OrganizationMembership
  })
}

/** The teams that the member is put into; adds to `violations` what the subject may not put anybody into. */
async function findTeams(
  tx: Ctx,
  organizationId: string,
  ids: readonly string[],
  violations: Violation[],
): Promise<teams.Team[]> {
  const found: teams.Team[] = []
  for (const [index, id] of ids.entries()) {
    const team = await teams.findJoinable(tx, organizationId, id)
    if (team) found.push(team)
    else {
      violations.push({
        detail: 'Id is not of a team that you may put members into',
        pointer: `/data/relationships/teams/data/${index}/id`,
      })
    }
  }
  return found
}

/**
 * Ends a membership or an invitation. Members may go themselves; only owners remove owners; the last owner
 * stays.
 */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const membership = await get(tx, id)
    const ownersTeams = await teams.listOwnersTeams(tx, [id])
    if (tx.subject?.kind !== 'user' || tx.subject.id !== membership.userId) {
      await authorize(tx, 'organization-memberships:manage', membership.organizationId)
      const { owner } = await accessTo(tx, membership.organizationId)
      if (ownersTeams.length > 0 && !owner) throw notFound()
    }
    for (const team of ownersTeams) await teams.leave(tx, team, [id])
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', membership)
  })
}

/** Makes the creator of a new organization its first member and owner. */
export async function addFounder(tx: Ctx, organization: Organization, userId: string): Promise<void> {
  const id = await insert(tx, organization.id, { userId })
  await teams.createOwners(tx, organization.id, id)
}

/** Makes a user a member wherever their address is invited. */
export async function acceptInvitations(tx: Ctx, user: User): Promise<void> {
  for (const accepted of await store.accept(tx.db, user.email, user.id)) {
    await recordChange(tx, 'update', accepted)
  }
}

/** Takes a user that is being deleted out of the owners teams; refuses where it is the last owner. */
export async function leaveOwners(tx: Ctx, user: User): Promise<void> {
  const ids = (await store.listOfUser(tx.db, user.id)).map((membership) => membership.id)
  for (const team of await teams.listOwnersTeams(tx, ids)) await teams.leave(tx, team, ids)
}

async function insert(
  tx: Ctx,
  organizationId: string,
  who: { userId: string } | { invitedEmail: string },
): Promise<string> {
  const id = newId('ou')
  await store
    .insert(tx.db, { id, organizationId, userId: null, invitedEmail: null, ...who, createdAt: tx.now() })
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error
      throw new AppError('invalid', [TAKEN], { cause: error })
    })
  await recordChange(tx, 'create', { id, organizationId })
  return id
}

const TAKEN: Violation = { detail: 'Email has already been taken', pointer: '/data/attributes/email' }

function recordChange(
  tx: Ctx,
  action: string,
  { id, organizationId }: Pick<OrganizationMembership, 'id' | 'organizationId'>,
): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'organization_membership', resourceId: id })
}
