import { Type } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { GRANTS, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Nullable, OneOf, Text, ToMany, Values, valuesOf } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import { covers, parseGrants } from './access.ts'
import * as members from './members.ts'
import type { Team } from './service.ts'
import * as service from './service.ts'

const TYPE = 'teams'

const Attributes = Type.Object({
  name: Text({
    maxLength: 90,
    pattern: '^[A-Za-z0-9_-]+$',
    rule: 'letters, digits, hyphens and underscores only',
  }),
  'sso-team-id': Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  visibility: Type.Optional(OneOf('secret', 'organization')),
  'allow-member-token-management': Type.Optional(Type.Boolean()),
  'organization-access': Type.Optional(
    Type.Partial(
      Type.Object(Object.fromEntries(GRANTS.map((grant) => [grant, Type.Boolean()])), {
        additionalProperties: false,
      }),
    ),
  ),
})

const INCLUDABLE = ['users', 'organization-memberships']

const Query = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  'filter[names]': Type.Optional(Values),
  include: Type.Optional(Type.String()),
})

/** Resources of teams with their members, in the order of `teams`. */
async function toResources(ctx: Ctx, teams: readonly Team[]): Promise<Resource[]> {
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
function toChanges<T extends { 'sso-team-id'?: string | null }>(attributes: T) {
  const { 'sso-team-id': ssoTeamId, ...others } = attributes
  return { ...camelKeys(others), ...(ssoTeamId !== undefined && { ssoTeamId: ssoTeamId || null }) }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/teams'
  const member = '/api/v2/teams/:id'

  includable(TYPE, async (ctx, ids) => toResources(ctx, await service.listByIds(ctx, ids)))

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, path, query, page, href }) => {
    const filter = { q: query.q, names: valuesOf(query['filter[names]']) }
    const teams = await service.list(ctx, path.organization_name, filter, page)
    const items = await toResources(ctx, teams.items)
    const included = await include(ctx, query.include, INCLUDABLE, items)
    return many({ ...teams, items }, href, (item) => item, included)
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'teams:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { attributes } = body.data
      const created = await service.create(ctx, path.organization_name, {
        ...toChanges(attributes),
        name: attributes.name,
      })
      const [resource] = (await toResources(ctx, [created])) as [Resource]
      return reply.code(201).send(one(resource))
    },
  )

  app.get(member, { schema: { querystring: Query } }, async ({ ctx, path, query }) => {
    const [resource] = (await toResources(ctx, [await service.get(ctx, path.id)])) as [Resource]
    return one(resource, await include(ctx, query.include, INCLUDABLE, [resource]))
  })

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: { access: (ctx, path) => service.getChangeable(ctx, path.id) },
    },
    async ({ ctx, path, body }) => {
      const changed = await service.update(ctx, path.id, toChanges(body.data.attributes))
      const [resource] = (await toResources(ctx, [changed])) as [Resource]
      return one(resource)
    },
  )

  app.delete(member, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })

  for (const kind of ['users', 'organization-memberships'] as const) {
    const options = {
      schema: { body: ToMany(kind) },
      config: {
        access: (ctx: Ctx, path: { id: string }) =>
          service.getManaged(ctx, path.id, 'teams:manage-membership'),
      },
    }
    const url = `${member}/relationships/${kind}`

    app.post(url, options, async ({ ctx, path, body }, reply) => {
      await members.add(
        ctx,
        path.id,
        kind,
        body.data.map(({ id }) => id),
      )
      return reply.code(204).send()
    })

    app.delete(url, options, async ({ ctx, path, body }, reply) => {
      await members.remove(
        ctx,
        path.id,
        kind,
        body.data.map(({ id }) => id),
      )
      return reply.code(204).send()
    })
  }
}
