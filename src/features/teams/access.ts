import { accessTo, can } from '../../auth/authorize.ts'
import { type Access, GRANTS, type Grant, mayGrant, NO_ACCESS, permits } from '../../auth/permissions.ts'
import type { Subject } from '../../auth/subject.ts'
import type { Ctx } from '../../context.ts'
import type { Db } from '../../db/transaction.ts'
import type { Team } from './store.ts'
import * as store from './store.ts'

/** What `subject` may do in an organization: nothing for a stranger, else the sum of its teams. */
export async function loadAccess(db: Db, subject: Subject, organizationId: string): Promise<Access> {
  if (subject.kind === 'organization') {
    return subject.id === organizationId ? { ...NO_ACCESS, member: true, organizationToken: true } : NO_ACCESS
  }
  if (subject.kind === 'agent') return NO_ACCESS
  if (subject.kind === 'run') {
    return subject.organizationId === organizationId ? { ...NO_ACCESS, run: true } : NO_ACCESS
  }
  if (subject.kind === 'team') {
    const team = subject.organizationId === organizationId && (await store.findAccess(db, subject.id))
    return team ? sumOf([team]) : NO_ACCESS
  }
  const rows = await store.listAccessOfUser(db, subject.id, organizationId)
  return rows.length > 0 ? sumOf(rows) : NO_ACCESS
}

interface TeamAccess {
  id: string | null
  isOwners: boolean | null
  organizationAccess: string | null
}

function sumOf(teams: readonly TeamAccess[]): Access {
  const grants = new Set<Grant>()
  for (const { organizationAccess } of teams) {
    for (const grant of parseGrants(organizationAccess)) grants.add(grant)
  }
  return {
    member: true,
    owner: teams.some((team) => team.isOwners),
    organizationToken: false,
    run: false,
    grants,
    teamIds: teams.flatMap((team) => team.id ?? []),
  }
}

/** The grants in a team's `organizationAccess` column. */
export function parseGrants(text: string | null): Grant[] {
  const stored: unknown[] = JSON.parse(text ?? '[]')
  return GRANTS.filter((grant) => stored.includes(grant))
}

/** Which teams of an organization the subject may know of: its own and the visible ones, unless all. */
export async function visibleTeams(ctx: Ctx, organizationId: string): Promise<'all' | readonly string[]> {
  const access = await accessTo(ctx, organizationId)
  return permits(access, 'teams:read-secret') ? 'all' : access.teamIds
}

/** Whether the subject may know of the team. */
export async function isVisible(
  ctx: Ctx,
  team: Pick<Team, 'id' | 'organizationId' | 'visibility'>,
): Promise<boolean> {
  const visible = await visibleTeams(ctx, team.organizationId)
  if (visible === 'all' || visible.includes(team.id)) return true
  return team.visibility === 'organization' && (await can(ctx, 'teams:read', team.organizationId))
}

/**
 * Whether the subject has all the rights that the team gives. Otherwise it may neither change the team nor
 * put anybody into it nor have a token of it: each would be a way to rights that it was not given. Of the
 * owners team only owners have all rights.
 */
export async function covers(ctx: Ctx, team: Team): Promise<boolean> {
  const access = await accessTo(ctx, team.organizationId)
  if (team.isOwners) return access.owner
  return parseGrants(team.organizationAccess).every((grant) => mayGrant(access, grant))
}
