import { Type } from 'typebox'
import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { input, OneOf, Text } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import type { RegistryProvider } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-providers'

const NAME = { pattern: '^[A-Za-z0-9_-]{1,64}$', rule: 'up to 64 letters, digits, hyphens and underscores' }

const Attributes = Type.Object({
  name: Text(NAME),
  namespace: Text(NAME),
  'registry-name': OneOf('private', 'public'),
})

const Query = Type.Object({
  'filter[registry_name]': Type.Optional(Type.String()),
  q: Type.Optional(Type.String({ maxLength: 255 })),
})

async function toResource(ctx: Ctx, provider: RegistryProvider): Promise<Resource> {
  const { organizationName, registryName, namespace, name } = provider
  const self = service.pathOf(provider)
  return {
    id: provider.id,
    type: TYPE,
    attributes: {
      name,
      namespace,
      'registry-name': registryName,
      'created-at': provider.createdAt,
      'updated-at': provider.updatedAt,
      permissions: { 'can-delete': await can(ctx, 'registry-providers:manage', provider.organizationId) },
    },
    relationships: {
      organization: toOne('organizations', organizationName),
      ...(registryName === 'private' && { versions: { links: { related: `${self}/versions` } } }),
    },
    links: { self },
  }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/registry-providers'
  const member = `${collection}/:registry_name/:namespace/:name`

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, path, query, page, href }) => {
    const filter = { registryName: query['filter[registry_name]'], q: query.q }
    const providers = await service.list(ctx, path.organization_name, filter, page)
    return many(providers, href, (provider) => toResource(ctx, provider))
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'registry-providers:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.get(ctx, service.addressOf(path))))
  })

  app.get('/api/v2/registry-providers/:id', async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.getById(ctx, path.id)))
  })

  app.delete(member, async ({ ctx, path }, reply) => {
    await service.remove(ctx, service.addressOf(path))
    return reply.code(204).send()
  })
}
