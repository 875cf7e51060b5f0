import { Type } from 'typebox'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toMany, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { input, OneOf, Text, ToMany, Values, valuesOf } from '../../http/schema.ts'
import type { Page } from '../../lib/pagination.ts'
import * as organizations from '../organizations/service.ts'
import * as teams from '../teams/service.ts'
import type { OrganizationMembership } from './service.ts'
import * as service from './service.ts'

const TYPE = 'organization-memberships'

const Attributes = Type.Object({
  email: Text({ pattern: '^[^\\s@]+@[^\\s@]+$', rule: 'an e-mail address' }),
})

const Relationships = Type.Object({ teams: Type.Optional(ToMany('teams')) })

const INCLUDABLE = ['user', 'teams']

const Query = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  'filter[email]': Type.Optional(Values),
  'filter[status]': Type.Optional(OneOf('active', 'invited')),
  include: Type.Optional(Type.String()),
})

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

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, path, query, ...request }) => {
    const filter = {
      q: query.q,
      emails: valuesOf(query['filter[email]']),
      status: query['filter[status]'],
    }
    const found = await service.list(ctx, path.organization_name, filter, request.page)
    return page(ctx, found, request.href, query.include)
  })

  app.get(
    '/api/v2/organization-memberships',
    { schema: { querystring: Query } },
    async ({ ctx, query, ...request }) => {
      return page(ctx, await service.listOwn(ctx, request.page), request.href, query.include)
    },
  )

  app.get(
    '/api/v2/teams/:id/relationships/organization-memberships',
    { schema: { querystring: Query } },
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

  app.get(member, { schema: { querystring: Query } }, async ({ ctx, path, query }) => {
    return single(ctx, await service.get(ctx, path.id), query.include)
  })

  app.delete(member, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
