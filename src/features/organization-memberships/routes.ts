import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, Include, input, OneOf, Search, Text, ToMany, Values, valuesOf } from '../../http/schema.ts'
import {
  answerOne,
  answerPage,
  Links,
  Moment,
  NOTHING,
  Related,
  RelatedMany,
  Shown,
} from '../../http/shown.ts'
import type { Page } from '../../lib/pagination.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import * as teams from '../teams/service.ts'
import type { OrganizationMembership } from './service.ts'
import * as service from './service.ts'

const TYPE = 'organization-memberships'

const Attributes = Type.Object({
  email: Text({
    pattern: '^[^\\s@]+@[^\\s@]+$',
    rule: 'an e-mail address',
    description: 'Of the person; who has no account yet becomes a member with it.',
    examples: ['ada@example.com'],
  }),
})

const Relationships = Type.Object({ teams: Type.Optional(ToMany('teams')) })

const INCLUDABLE = ['user', 'teams']

const Query = Type.Object({
  q: Search('Only members whose name or e-mail address contains this text.'),
  'filter[email]': Type.Optional(About('Only members with one of these addresses.', Values)),
  'filter[status]': Type.Optional(
    About('Only those who are members, or those who are invited.', OneOf('active', 'invited')),
  ),
  include: Include(INCLUDABLE),
})

const Membership = Shown('OrganizationMembership', TYPE, {
  id: 'ou-tTJph1AQVK5ZmdND',
  attributes: {
    status: About('Whether the person has an account.', OneOf('active', 'invited')),
    email: Type.String({ examples: ['ada@example.com'] }),
    'created-at': Moment('When the person was invited.'),
  },
  relationships: {
    organization: Related('organizations'),
    user: Related('users'),
    teams: RelatedMany('teams'),
  },
  links: Links('self'),
})

const doc = documents('Organization memberships', 'Who is in an organization, and in which of its teams.')

const docs = {
  list: doc('listOrganizationMemberships', 'List the members of an organization', {
    200: answerPage(Membership, INCLUDABLE),
  }),
  listOwn: doc(
    'listOwnMemberships',
    'List the organizations that the caller is in',
    {
      200: answerPage(Membership, INCLUDABLE),
    },
    { failures: { notFound: 'The token is not that of a user.' } },
  ),
  listOfTeam: doc('listTeamMemberships', 'List the members of a team', {
    200: answerPage(Membership, INCLUDABLE),
  }),
  create: doc('createOrganizationMembership', 'Invite somebody into an organization', {
    201: answerOne(Membership, ['user']),
  }),
  show: doc('showOrganizationMembership', 'Show a membership', { 200: answerOne(Membership, INCLUDABLE) }),
  remove: doc(
    'removeOrganizationMembership',
    'End a membership',
    { 204: NOTHING },
    { failures: { conflict: 'It is the last owner’s.' } },
  ),
}

async function toResources(ctx: Ctx, memberships: readonly OrganizationMembership[]): Promise<Resource[]> {
  const names = await organizations.listNames(ctx, memberships)
  const teamIds = await teams.listOfMemberships(
    ctx,
    memberships.map(({ id }) => id),
  )
  return memberships.map((membership) => ({
    id: membership.id,
    type: TYPE,
    attributes: {
      status: membership.userId ? 'active' : 'invited',
      email: membership.email,
      'created-at': membership.createdAt,
    },
    relationships: {
      organization: toOne('organizations', names.get(membership.organizationId)),
      user: toOne('users', membership.userId ?? placeholder(membership)),
      teams: toMany('teams', teamIds.get(membership.id) ?? []),
    },
    links: { self: `/api/v2/organization-memberships/${membership.id}` },
  }))
}

/** Clients read the user of every membership; until an invited person is one, this id stands for nobody. */
function placeholder({ id }: OrganizationMembership): string {
  return id.replace(/^ou-/, 'user-')
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/organization-memberships'
  const member = '/api/v2/organization-memberships/:id'

  includable(TYPE, async (ctx, ids) => toResources(ctx, await service.listByIds(ctx, ids)))

  const page = async (ctx: Ctx, found: Page<OrganizationMembership>, href: string, wanted?: string) => {
    const items = await toResources(ctx, found.items)
    return many({ ...found, items }, href, (item) => item, await include(ctx, wanted, INCLUDABLE, items))
  }

  const single = async (ctx: Ctx, membership: OrganizationMembership, wanted?: string) => {
    const [resource] = (await toResources(ctx, [membership])) as [Resource]
    return one(resource, await include(ctx, wanted, INCLUDABLE, [resource]))
  }

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, ...request }) => {
      const filter = {
        q: query.q,
        emails: valuesOf(query['filter[email]']),
        status: query['filter[status]'],
      }
      const found = await service.list(ctx, path.organization_name, filter, request.page)
      return page(ctx, found, request.href, query.include)
    },
  )

  app.get(
    '/api/v2/organization-memberships',
    { schema: { querystring: Query }, config: { doc: docs.listOwn } },
    async ({ ctx, query, ...request }) => {
      return page(ctx, await service.listOwn(ctx, request.page), request.href, query.include)
    },
  )

  app.get(
    '/api/v2/teams/:id/relationships/organization-memberships',
    { schema: { querystring: Query }, config: { doc: docs.listOfTeam } },
    async ({ ctx, path, query, ...request }) => {
      const found = await service.listOfTeam(ctx, path.id, { status: query['filter[status]'] }, request.page)
      return page(ctx, found, request.href, query.include)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: {
        doc: docs.create,
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'organization-memberships:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { attributes, relationships } = body.data
      const teamIds = relationships.teams?.data.map(({ id }) => id) ?? []
      const created = await service.create(ctx, path.organization_name, { email: attributes.email, teamIds })
      return reply.code(201).send(await single(ctx, created, 'user'))
    },
  )

  app.get(
    member,
    { schema: { querystring: Query }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      return single(ctx, await service.get(ctx, path.id), query.include)
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
