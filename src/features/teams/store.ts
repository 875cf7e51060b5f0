import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { TeamTable } from './table.ts'

export type Team = Selectable<TeamTable>

export function insert(db: Db, row: Insertable<TeamTable>): Promise<Team> {
  return db.insertInto('teams').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function addMember(db: Db, teamId: string, membershipId: string): Promise<void> {
  await db
    .insertInto('teamMemberships')
    .values({ teamId, membershipId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
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
    .where('membership.status', '=', 'active')
    .execute()
}

export function findAccess(db: Db, teamId: string) {
  return db
    .selectFrom('teams')
    .select(['id', 'isOwners', 'organizationAccess'])
    .where('id', '=', teamId)
    .executeTakeFirst()
}
