import { Type } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { GRANTS, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { About, Nullable, OneOf, Text } from '../../http/schema.ts'
import { Links, Permissions, Related, RelatedAddress, RelatedMany, Shown } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import { covers, parseGrants } from './access.ts'
import * as members from './members.ts'
import type { Team } from './service.ts'
import * as service from './service.ts'

export const TYPE = 'teams'

export const Attributes = Type.Object({
  name: Text({
    maxLength: 90,
    pattern: '^[A-Za-z0-9_-]+$',
    rule: 'letters, digits, hyphens and underscores only',
    description: 'Its name. No two teams of an organization have the same.',
    examples: ['network'],
  }),
  'sso-team-id': Type.Optional(
    Nullable(
      Type.String({ maxLength: 255, description: 'What the identity provider calls it; null for nothing.' }),
    ),
  ),
  visibility: Type.Optional(
    About(
      'Who sees it: its members and those who manage teams, or the whole organization.',
      OneOf('secret', 'organization'),
    ),
  ),
  'allow-member-token-management': Type.Optional(
    Type.Boolean({ description: 'Whether members may make and remove tokens of the team.' }),
  ),
  'organization-access': Type.Optional(
    Type.Partial(
      Type.Object(Object.fromEntries(GRANTS.map((grant) => [grant, Type.Boolean()])), {
        additionalProperties: false,
      }),
    ),
  ),
})

export const ShownTeam = Shown('Team', TYPE, {
  id: 'team-6p5jTwJQXwqZBncC',
  attributes: {
    ...Type.Required(Attributes).properties,
    'organization-access': Permissions(GRANTS),
    'is-unified': Type.Boolean(),
    'users-count': Type.Integer({ minimum: 0, description: 'Members, without those who are only invited.' }),
    permissions: Permissions([
      'can-destroy',
      'can-update-membership',
      'can-update-organization-access',
      'can-update-api-token',
      'can-view-api-token',
      'can-update-visibility',
      'can-update-name',
      'can-update-sso-team-id',
      'can-update-member-token-management',
    ]),
  },
  relationships: {
    organization: Related('organizations'),
    users: RelatedMany('users'),
    'organization-memberships': RelatedMany('organization-memberships'),
    'authentication-token': RelatedAddress,
    'authentication-tokens': RelatedAddress,
  },
  links: Links('self'),
})

/** Resources of teams with their members, in the order of `teams`. */
export async function toResources(ctx: Ctx, teams: readonly Team[]): Promise<Resource[]> {
  const memberships = await members.list(ctx, teams)
  const names = await organizations.listNames(ctx, teams)
  return Promise.all(
    teams.map((team) =>
      toResource(ctx, team, names.get(team.organizationId) ?? '', memberships.get(team.id) ?? []),
    ),
  )
}

async function toResource(
  ctx: Ctx,
  team: Team,
  organization: string,
  inTeam: readonly members.Member[],
): Promise<Resource> {
  const grants = parseGrants(team.organizationAccess)
  const userIds = inTeam.flatMap(({ userId }) => userId ?? [])
  const self = `/api/v2/teams/${team.id}`
  return {
    id: team.id,
    type: TYPE,
    attributes: {
      name: team.name,
      'sso-team-id': team.ssoTeamId,
      visibility: team.visibility,
      'allow-member-token-management': team.allowMemberTokenManagement,
      'is-unified': false,
      'users-count': userIds.length,
      'organization-access': Object.fromEntries(
        GRANTS.map((grant) => [grant, team.isOwners || grants.includes(grant)]),
      ),
      permissions: await permissionsOn(ctx, team),
    },
    relationships: {
      organization: toOne('organizations', organization),
      users: toMany('users', userIds),
      'organization-memberships': toMany(
        'organization-memberships',
        inTeam.map(({ membershipId }) => membershipId),
      ),
      'authentication-token': { links: { related: `${self}/authentication-token` } },
      'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
    },
    links: { self },
  }
}

async function permissionsOn(ctx: Ctx, team: Team) {
  const access = await accessTo(ctx, team.organizationId)
  const covered = await covers(ctx, team)
  const manages = covered && permits(access, 'teams:manage')
  const tokens = await service.hasTokens(ctx, team)
  return {
    'can-destroy': manages && !team.isOwners,
    'can-update-membership': covered && permits(access, 'teams:manage-membership'),
    'can-update-organization-access':
      covered && !team.isOwners && permits(access, 'teams:manage-organization-access'),
    'can-update-api-token': tokens,
    'can-view-api-token': tokens,
    'can-update-visibility': manages,
    'can-update-name': manages && !team.isOwners,
    'can-update-sso-team-id': manages,
    'can-update-member-token-management': manages,
  }
}

/** An empty text is how some clients say that there is no SSO team. */
export function toChanges<T extends { 'sso-team-id'?: string | null }>(attributes: T) {
  const { 'sso-team-id': ssoTeamId, ...others } = attributes
  return { ...camelKeys(others), ...(ssoTeamId !== undefined && { ssoTeamId: ssoTeamId || null }) }
}
