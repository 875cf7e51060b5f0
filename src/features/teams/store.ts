import type { Insertable, Selectable, Updateable } from 'kysely'
import { among, changesRows, contains, paginate, sameTextAmong } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { TeamTable } from './table.ts'

export type Team = Selectable<TeamTable>

/** A membership of an organization that is in a team; without a user it is an invitation. */
export interface Member {
  teamId: string
  membershipId: string
  userId: string | null
}

export interface TeamFilter {
  /** Part of the name. */
  q?: string | undefined
  /** Exact names, whatever the case. */
  names?: readonly string[] | undefined
  /** The ids of the secret teams among the result. */
  visible: 'all' | readonly string[]
}

function teamsOf(db: Db, organizationId: string, visible: TeamFilter['visible']) {
  const teams = db.selectFrom('teams').selectAll().where('organizationId', '=', organizationId)
  if (visible === 'all') return teams
  return teams.where((eb) => eb.or([eb('visibility', '=', 'organization'), among(eb, 'id', visible)]))
}

export function listVisible(db: Db, organizationId: string, visible: TeamFilter['visible']): Promise<Team[]> {
  return teamsOf(db, organizationId, visible).execute()
}

export function list(db: Db, organizationId: string, { q, names, visible }: TeamFilter, page: PageRequest) {
  let teams = teamsOf(db, organizationId, visible)
  if (q) teams = teams.where((eb) => contains(eb, 'name', q))
  if (names) teams = teams.where((eb) => sameTextAmong(eb, 'name', names))
  return paginate(teams.orderBy('name').orderBy('id'), page)
}

export function find(db: Db, id: string): Promise<Team | undefined> {
  return db.selectFrom('teams').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<Team[]> {
  if (ids.length === 0) return []
  return db.selectFrom('teams').selectAll().where('id', 'in', ids).orderBy('name').execute()
}

/** Keeps others from changing who is in the team until the transaction ends. */
export async function lock(db: Db, id: string, updatedAt: string): Promise<void> {
  await db.updateTable('teams').set({ updatedAt }).where('id', '=', id).execute()
}

/** The owners teams that any of the memberships is in, always in the same order. */
export async function listOwnersTeams(db: Db, membershipIds: readonly string[]): Promise<Team[]> {
  if (membershipIds.length === 0) return []
  const teamIds = db.selectFrom('teamMemberships').select('teamId').where('membershipId', 'in', membershipIds)
  return db
    .selectFrom('teams')
    .selectAll()
    .where('isOwners', '=', true)
    .where('id', 'in', teamIds)
    .orderBy('id')
    .execute()
}

export function insert(db: Db, row: Insertable<TeamTable>): Promise<Team> {
  return db.insertInto('teams').values(row).returningAll().executeTakeFirstOrThrow()
}

export function update(db: Db, id: string, changes: Updateable<TeamTable>): Promise<Team | undefined> {
  return db.updateTable('teams').set(changes).where('id', '=', id).returningAll().executeTakeFirst()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('teams').where('id', '=', id))
}

export async function listMembers(db: Db, teamIds: readonly string[]): Promise<Member[]> {
  if (teamIds.length === 0) return []
  return db
    .selectFrom('teamMemberships')
    .innerJoin('organizationMemberships as membership', 'membership.id', 'teamMemberships.membershipId')
    .select(['teamMemberships.teamId', 'membership.id as membershipId', 'membership.userId'])
    .where('teamMemberships.teamId', 'in', teamIds)
    .orderBy('membership.createdAt')
    .orderBy('membership.id')
    .execute()
}

/** The teams that memberships are in, by name. */
export async function listOfMemberships(db: Db, membershipIds: readonly string[]) {
  if (membershipIds.length === 0) return []
  return db
    .selectFrom('teamMemberships')
    .innerJoin('teams', 'teams.id', 'teamMemberships.teamId')
    .select(['teamMemberships.membershipId', 'teams.id', 'teams.organizationId', 'teams.visibility'])
    .where('teamMemberships.membershipId', 'in', membershipIds)
    .orderBy('teams.name')
    .execute()
}

/** The memberships that users of these names, whatever the case, have in an organization. */
export function listMembershipsByUsername(db: Db, organizationId: string, names: readonly string[]) {
  return db
    .selectFrom('organizationMemberships as membership')
    .innerJoin('users', 'users.id', 'membership.userId')
    .select((eb) => ['membership.id', eb.fn<string>('lower', ['users.username']).as('name')])
    .where('membership.organizationId', '=', organizationId)
    .where((eb) => sameTextAmong(eb, 'users.username', names))
    .execute()
}

/** Those of the memberships that belong to the organization. */
export async function listMembershipsById(db: Db, organizationId: string, ids: readonly string[]) {
  if (ids.length === 0) return []
  return db
    .selectFrom('organizationMemberships')
    .select(['id', 'id as name'])
    .where('organizationId', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
}

export async function addMember(db: Db, teamId: string, membershipId: string): Promise<boolean> {
  return changesRows(
    db
      .insertInto('teamMemberships')
      .values({ teamId, membershipId })
      .onConflict((conflict) => conflict.doNothing()),
  )
}

export async function removeMember(db: Db, teamId: string, membershipId: string): Promise<boolean> {
  return changesRows(
    db.deleteFrom('teamMemberships').where('teamId', '=', teamId).where('membershipId', '=', membershipId),
  )
}

/** Whether the user is a member of the organization, and the teams that membership is in: one row each. */
export function listAccessOfUser(db: Db, userId: string, organizationId: string) {
  return db
    .selectFrom('organizationMemberships as membership')
    .leftJoin('teamMemberships', 'teamMemberships.membershipId', 'membership.id')
    .leftJoin('teams', 'teams.id', 'teamMemberships.teamId')
    .select(['teams.id', 'teams.isOwners', 'teams.organizationAccess'])
    .where('membership.userId', '=', userId)
    .where('membership.organizationId', '=', organizationId)
    .execute()
}

export function findAccess(db: Db, teamId: string) {
  return db
    .selectFrom('teams')
    .select(['id', 'isOwners', 'organizationAccess'])
    .where('id', '=', teamId)
    .executeTakeFirst()
}
