import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, input, OneOf, Search, Text } from '../../http/schema.ts'
import {
  answerOne,
  answerPage,
  Links,
  Moment,
  NOTHING,
  Permissions,
  Related,
  RelatedAddress,
  Shown,
} from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import type { RegistryProvider } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-providers'

const NAME = { pattern: '^[A-Za-z0-9_-]{1,64}$', rule: 'up to 64 letters, digits, hyphens and underscores' }

const Attributes = Type.Object({
  name: Text({ ...NAME, examples: ['network'] }),
  namespace: Text({
    ...NAME,
    description: 'In the private registry the name of the organization.',
    examples: ['acme'],
  }),
  'registry-name': About(
    '`private` for a provider whose versions are here, `public` to refer to one of the public registry.',
    OneOf('private', 'public'),
  ),
})

const Query = Type.Object({
  'filter[registry_name]': Type.Optional(Type.String({ description: 'Only `private` or `public` ones.' })),
  q: Search('Only providers whose name or namespace contains this text.'),
})

const Provider = Shown('RegistryProvider', TYPE, {
  id: 'prov-xmLRpZ2QkQVmG1oV',
  attributes: {
    ...Attributes.properties,
    'created-at': Moment('When it was registered.'),
    'updated-at': Moment('When it was last changed.'),
    permissions: Permissions(['can-delete']),
  },
  relationships: { organization: Related('organizations'), versions: Type.Optional(RelatedAddress) },
  links: Links('self'),
})

const CURATION = { forbidden: 'The provider is a public one, and the server does not refer to those.' }

const doc = documents('Providers', 'The providers in the registry of an organization.')

const docs = {
  list: doc('listProviders', 'List the providers of an organization', { 200: answerPage(Provider) }),
  create: doc('createProvider', 'Register a provider', { 201: answerOne(Provider) }, { failures: CURATION }),
  show: doc('showProvider', 'Show a provider', { 200: answerOne(Provider) }, { failures: CURATION }),
  showById: doc('showProviderById', 'Show a provider by its id', { 200: answerOne(Provider) }),
  remove: doc(
    'removeProvider',
    'Remove a provider with all of its versions',
    { 204: NOTHING },
    { failures: CURATION },
  ),
}

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

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { registryName: query['filter[registry_name]'], q: query.q }
      const providers = await service.list(ctx, path.organization_name, filter, page)
      return many(providers, href, (provider) => toResource(ctx, provider))
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'registry-providers:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.get(ctx, service.addressOf(path))))
  })

  app.get('/api/v2/registry-providers/:id', { config: { doc: docs.showById } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.getById(ctx, path.id)))
  })

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, service.addressOf(path))
    return reply.code(204).send()
  })
}
