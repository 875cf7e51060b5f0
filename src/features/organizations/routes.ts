import { authorizeUser } from '../../auth/authorize.ts'
import { includable } from '../../http/includes.ts'
import { many, one, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Search } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import {
  Attributes,
  ENTITLEMENTS,
  EntitlementSet,
  Organization,
  Relationships,
  TYPE,
  toChanges,
  toResource,
} from './resource.ts'
import * as service from './service.ts'

const Query = Type.Object({ q: Search('Only organizations whose name contains this text.') })

const doc = documents('Organizations', 'What owns everything else, and who may do what with it.')

const docs = {
  list: doc(
    'listOrganizations',
    'List the organizations that the caller is in',
    { 200: answerPage(Organization) },
    { failures: { notFound: 'The token is for something else only, such as publishing a provider.' } },
  ),
  create: doc('createOrganization', 'Make an organization, which the caller then owns', {
    201: answerOne(Organization),
  }),
  show: doc('showOrganization', 'Show an organization', { 200: answerOne(Organization) }),
  update: doc('updateOrganization', 'Change an organization', { 200: answerOne(Organization) }),
  remove: doc('removeOrganization', 'Remove an organization with everything in it', { 204: NOTHING }),
  entitlements: doc('showEntitlementSet', 'Tell which features an organization has', {
    200: answerOne(EntitlementSet),
  }),
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations'
  const member = '/api/v2/organizations/:organization_name'

  includable(TYPE, async (ctx, names) => {
    const visible = await service.listVisible(ctx, names)
    return Promise.all(visible.map((item) => toResource(ctx, item)))
  })

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, query, page, href }) => {
      return many(await service.list(ctx, query.q, page), href, (item) => toResource(ctx, item))
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: { doc: docs.create, access: async (ctx) => authorizeUser(ctx) },
    },
    async ({ ctx, body }, reply) => {
      const { name, email } = body.data.attributes
      const created = await service.create(ctx, { ...toChanges(body.data), name, email })
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.getByName(ctx, path.organization_name)))
  })

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes), Relationships) },
      config: {
        doc: docs.update,
        access: (ctx, path) => service.getByName(ctx, path.organization_name, 'organizations:update'),
      },
    },
    async ({ ctx, path, body }) => {
      const changed = await service.update(ctx, path.organization_name, toChanges(body.data))
      return one(await toResource(ctx, changed))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.organization_name)
    return reply.code(204).send()
  })

  app.get(`${member}/entitlement-set`, { config: { doc: docs.entitlements } }, async ({ ctx, path }) => {
    const { id, name } = await service.getByName(ctx, path.organization_name)
    return one({
      id,
      type: 'entitlement-sets',
      attributes: ENTITLEMENTS,
      links: { self: `/api/v2/entitlement-sets/${id}` },
      relationships: { organization: toOne(TYPE, name) },
    })
  })
}
