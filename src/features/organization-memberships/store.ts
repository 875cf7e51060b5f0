import type { Insertable, Selectable } from 'kysely'
import { changesRows, contains, paginate, sameText, sameTextAmong } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { OrganizationMembershipTable } from './table.ts'

/** A membership with the address of its user, or the invited one. */
export type OrganizationMembership = Omit<Selectable<OrganizationMembershipTable>, 'invitedEmail'> & {
  email: string
}

export interface MembershipFilter {
  organizationId?: string
  userId?: string
  teamId?: string
  emails?: readonly string[] | undefined
  status?: 'active' | 'invited' | undefined
  /** Part of the address or of the user's name. */
  q?: string | undefined
}

function memberships(db: Db) {
  return db
    .selectFrom('organizationMemberships as membership')
    .leftJoin('users', 'users.id', 'membership.userId')
    .select(['membership.id', 'membership.organizationId', 'membership.userId', 'membership.createdAt'])
    .select((eb) => eb.fn.coalesce('users.email', 'membership.invitedEmail').$castTo<string>().as('email'))
}

/** Oldest first. */
export function list(db: Db, filter: MembershipFilter, page: PageRequest) {
  const { organizationId, userId, teamId, emails, status, q } = filter
  let wanted = memberships(db)
  if (organizationId) wanted = wanted.where('membership.organizationId', '=', organizationId)
  if (userId) wanted = wanted.where('membership.userId', '=', userId)
  if (teamId) {
    const inTeam = db.selectFrom('teamMemberships').select('membershipId').where('teamId', '=', teamId)
    wanted = wanted.where('membership.id', 'in', inTeam)
  }
  if (status) wanted = wanted.where('membership.userId', status === 'active' ? 'is not' : 'is', null)
  if (emails) {
    wanted = wanted.where((eb) =>
      eb.or([sameTextAmong(eb, 'users.email', emails), sameTextAmong(eb, 'membership.invitedEmail', emails)]),
    )
  }
  if (q) {
    wanted = wanted.where((eb) =>
      eb.or([
        contains(eb, 'users.email', q),
        contains(eb, 'users.username', q),
        contains(eb, 'membership.invitedEmail', q),
      ]),
    )
  }
  return paginate(wanted.orderBy('membership.createdAt').orderBy('membership.id'), page)
}

export function find(db: Db, id: string): Promise<OrganizationMembership | undefined> {
  return memberships(db).where('membership.id', '=', id).executeTakeFirst()
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<OrganizationMembership[]> {
  if (ids.length === 0) return []
  return memberships(db)
    .where('membership.id', 'in', ids)
    .orderBy('membership.createdAt')
    .orderBy('membership.id')
    .execute()
}

export function listOfUser(db: Db, userId: string): Promise<OrganizationMembership[]> {
  return memberships(db).where('membership.userId', '=', userId).execute()
}

/** Whether somebody with the address is a member of the organization, or invited to it. */
export async function isKnown(db: Db, organizationId: string, email: string): Promise<boolean> {
  const found = await memberships(db)
    .where('membership.organizationId', '=', organizationId)
    .where((eb) =>
      eb.or([sameText(eb, 'users.email', email), sameText(eb, 'membership.invitedEmail', email)]),
    )
    .executeTakeFirst()
  return found !== undefined
}

export async function insert(db: Db, row: Insertable<OrganizationMembershipTable>): Promise<void> {
  await db.insertInto('organizationMemberships').values(row).execute()
}

/** Turns the invitations of an address into memberships of its user, where it is not a member yet. */
export async function accept(
  db: Db,
  email: string,
  userId: string,
): Promise<{ id: string; organizationId: string }[]> {
  const joined = db
    .selectFrom('organizationMemberships')
    .select('organizationId')
    .where('userId', '=', userId)
  return db
    .updateTable('organizationMemberships')
    .set({ userId, invitedEmail: null })
    .where((eb) => sameText(eb, 'invitedEmail', email))
    .where('organizationId', 'not in', joined)
    .returning(['id', 'organizationId'])
    .execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('organizationMemberships').where('id', '=', id))
}
