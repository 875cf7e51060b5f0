import { accessTo } from '../../auth/authorize.ts'
import { GRANTS, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { documents, type Operation } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { About, Changes, Include, input, Search, ToMany, Values, valuesOf } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { covers, parseGrants } from './access.ts'
import * as members from './members.ts'
import { Attributes, ShownTeam, TYPE } from './schema.ts'
import type { Team } from './service.ts'
import * as service from './service.ts'

const INCLUDABLE = ['users', 'organization-memberships']

const Show = Type.Object({ include: Include(INCLUDABLE) })

const Query = Type.Object({
  ...Show.properties,
  q: Search('Only teams whose name contains this text.'),
  'filter[names]': Type.Optional(About('Only teams with one of these names.', Values)),
})

const doc = documents('Teams', 'Groups of an organization’s members, and what they may do.')

const docs = {
  list: doc('listTeams', 'List the teams of an organization', { 200: answerPage(ShownTeam, INCLUDABLE) }),
  create: doc('createTeam', 'Make a team', { 201: answerOne(ShownTeam) }),
  show: doc('showTeam', 'Show a team', { 200: answerOne(ShownTeam, INCLUDABLE) }),
  update: doc('updateTeam', 'Change a team', { 200: answerOne(ShownTeam) }),
  remove: doc(
    'removeTeam',
    'Remove a team',
    { 204: NOTHING },
    { failures: { conflict: 'It is the owners team.' } },
  ),
}

const LAST_OWNER = { failures: { conflict: 'The owners team would have no member.' } }

/** Members are named as users or by their memberships. */
const MEMBERS = [
  {
    kind: 'users',
    add: doc('addTeamUsers', 'Put users into a team', { 204: NOTHING }),
    remove: doc('removeTeamUsers', 'Take users out of a team', { 204: NOTHING }, LAST_OWNER),
  },
  {
    kind: 'organization-memberships',
    add: doc('addTeamMemberships', 'Put members of the organization into a team', { 204: NOTHING }),
    remove: doc(
      'removeTeamMemberships',
      'Take members of the organization out of a team',
      { 204: NOTHING },
      LAST_OWNER,
    ),
  },
] as const

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

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { q: query.q, names: valuesOf(query['filter[names]']) }
      const teams = await service.list(ctx, path.organization_name, filter, page)
      const items = await toResources(ctx, teams.items)
      const included = await include(ctx, query.include, INCLUDABLE, items)
      return many({ ...teams, items }, href, (item) => item, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
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

  app.get(
    member,
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const [resource] = (await toResources(ctx, [await service.get(ctx, path.id)])) as [Resource]
      return one(resource, await include(ctx, query.include, INCLUDABLE, [resource]))
    },
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: { doc: docs.update, access: (ctx, path) => service.getChangeable(ctx, path.id) },
    },
    async ({ ctx, path, body }) => {
      const changed = await service.update(ctx, path.id, toChanges(body.data.attributes))
      const [resource] = (await toResources(ctx, [changed])) as [Resource]
      return one(resource)
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })

  mountMembers(app, member)
}

function mountMembers(app: App, member: string): void {
  for (const { kind, add, remove } of MEMBERS) {
    const options = (doc: Operation) => ({
      schema: { body: ToMany(kind) },
      config: {
        doc,
        access: (ctx: Ctx, path: { id: string }) =>
          service.getManaged(ctx, path.id, 'teams:manage-membership'),
      },
    })
    const url = `${member}/relationships/${kind}`

    app.post(url, options(add), async ({ ctx, path, body }, reply) => {
      await members.add(
        ctx,
        path.id,
        kind,
        body.data.map(({ id }) => id),
      )
      return reply.code(204).send()
    })

    app.delete(url, options(remove), async ({ ctx, path, body }, reply) => {
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
