import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { refuse } from '../../lib/errors.ts'
import { getManaged, join, leave, type Team } from './service.ts'
import * as store from './store.ts'

/** How a request names members: users by their name, memberships by their id. */
export type MemberKind = 'users' | 'organization-memberships'

export type { Member } from './store.ts'

/** Who is in each of the teams, which the subject may see. */
export async function list(ctx: Ctx, teams: readonly Team[]): Promise<Map<string, store.Member[]>> {
  const inTeams = await store.listMembers(
    ctx.db,
    teams.map((team) => team.id),
  )
  return Map.groupBy(inTeams, (member) => member.teamId)
}

/** Puts members of the organization into the team; those who are in it already stay. */
export function add(ctx: Ctx, teamId: string, kind: MemberKind, names: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const team = await getManaged(tx, teamId, 'teams:manage-membership')
    for (const membershipId of await resolve(tx, team, kind, names)) await join(tx, team, membershipId)
  })
}

/** Takes members out of the team; they stay in the organization. */
export function remove(ctx: Ctx, teamId: string, kind: MemberKind, names: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const team = await getManaged(tx, teamId, 'teams:manage-membership')
    await leave(tx, team, await resolve(tx, team, kind, names))
  })
}

/** The ids of the memberships; refuses every name that is not of a member of the team's organization. */
async function resolve(tx: Ctx, team: Team, kind: MemberKind, names: readonly string[]): Promise<string[]> {
  const keys = kind === 'users' ? names.map((name) => name.toLowerCase()) : names
  const find = kind === 'users' ? store.listMembershipsByUsername : store.listMembershipsById
  const found = new Map((await find(tx.db, team.organizationId, keys)).map(({ name, id }) => [name, id]))
  refuse(
    keys.flatMap((key, index) =>
      found.has(key)
        ? []
        : [{ detail: 'Id is not of a member of the organization', pointer: `/data/${index}/id` }],
    ),
  )
  return [...new Set(found.values())]
}
