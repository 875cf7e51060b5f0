import { accessTo, can } from '../../auth/authorize.ts'
import { GRANTS, type Grant, mayGrant } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import type { Violation } from '../../lib/errors.ts'
import type { Team } from './store.ts'

/** Rights to switch on and off; those not named stay as they are. */
export type OrganizationAccess = Partial<Record<Grant, boolean>>

export interface TeamAttributes {
  name: string
  ssoTeamId?: string | null
  visibility?: Team['visibility']
  allowMemberTokenManagement?: boolean
  organizationAccess?: OrganizationAccess
}

const POINTER = '/data/attributes'

/** Rights are given by those who may change them, and only rights that they have. */
export async function listGrantRefusals(
  tx: Ctx,
  organizationId: string,
  granted: readonly Grant[],
  changes: OrganizationAccess = {},
): Promise<Violation[]> {
  const access = await accessTo(tx, organizationId)
  const mayChange = await can(tx, 'teams:manage-organization-access', organizationId)
  return GRANTS.filter((grant) => (changes[grant] ?? granted.includes(grant)) !== granted.includes(grant))
    .filter((grant) => !mayChange || !mayGrant(access, grant))
    .map((grant) => ({
      detail: `Organization access cannot be changed by somebody without the right: ${grant}`,
      pointer: `${POINTER}/organization-access/${grant}`,
    }))
}

/** Whoever manages organization access only may change nothing else. */
export async function listManageRefusals(
  tx: Ctx,
  team: Team,
  changes: Partial<Omit<TeamAttributes, 'organizationAccess'>>,
): Promise<Violation[]> {
  if (await can(tx, 'teams:manage', team.organizationId)) return []
  const refused = (Object.keys(SPELLED) as (keyof typeof SPELLED)[]).filter(
    (key) => changes[key] !== undefined && changes[key] !== team[key],
  )
  return refused.map((key) => ({
    detail: `${SPELLED[key]} cannot be changed by somebody without the right: manage-teams`,
    pointer: `${POINTER}/${SPELLED[key]}`,
  }))
}

const SPELLED = {
  name: 'name',
  ssoTeamId: 'sso-team-id',
  visibility: 'visibility',
  allowMemberTokenManagement: 'allow-member-token-management',
} as const

/** The owners team keeps its name and its rights. */
export function listOwnersRefusals(team: Team, changes: Partial<TeamAttributes>): Violation[] {
  if (!team.isOwners) return []
  const { name = team.name, organizationAccess = {} } = changes
  return [
    ...(name === team.name
      ? []
      : [{ detail: 'Name of the owners team cannot be changed', pointer: `${POINTER}/name` }]),
    ...GRANTS.filter((grant) => organizationAccess[grant] === false).map((grant) => ({
      detail: 'Organization access of the owners team cannot be changed',
      pointer: `${POINTER}/organization-access/${grant}`,
    })),
  ]
}
