import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { input, Nullable, Search } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { Module, Name, Provider, RegistryName, TYPE, toResource } from './resource.ts'
import * as service from './service.ts'

const NoCode = Type.Optional(Nullable(Type.Boolean({ description: 'Only kept.' })))

const Attributes = Type.Object({
  name: Name,
  provider: Provider,
  'registry-name': Type.Optional(RegistryName),
  namespace: Type.Optional(
    Nullable(Type.String({ maxLength: 64, description: 'Of a public module only.', examples: ['acme'] })),
  ),
  'no-code': NoCode,
})

const Changes = Type.Object({ 'no-code': NoCode })

const Query = Type.Object({
  'filter[registry_name]': Type.Optional(Type.String({ description: 'Only `private` or `public` ones.' })),
  'filter[provider]': Type.Optional(Type.String({ description: 'Only those for this system.' })),
  'filter[organization_name]': Type.Optional(
    Type.String({ description: 'Only those of this organization.' }),
  ),
  q: Search('Only modules whose name, namespace or provider contains this text.'),
})

const doc = documents('Modules', 'The modules in the registry of an organization.', {
  forbidden: 'The module is a public one, and the server does not refer to those.',
})

const OLDER = { description: 'The older address; use those below the organization.' }

const docs = {
  list: doc('listModules', 'List the modules of an organization', { 200: answerPage(Module) }),
  create: doc('createModule', 'Register a module', { 201: answerOne(Module) }),
  show: doc('showModule', 'Show a module', { 200: answerOne(Module) }),
  showById: doc('showModuleById', 'Show a module by its id', { 200: answerOne(Module) }),
  update: doc('updateModule', 'Change a module', { 200: answerOne(Module) }),
  remove: doc('removeModule', 'Remove a module for one system, with all of its versions', { 204: NOTHING }),
  removeAll: doc('removeModules', 'Remove a module for every system', { 204: NOTHING }),
  olderShow: doc('showModuleByOlderAddress', 'Show a private module', { 200: answerOne(Module) }, OLDER),
  olderRemove: doc(
    'removeModuleByOlderAddress',
    'Remove a private module for one system',
    { 204: NOTHING },
    OLDER,
  ),
  olderRemoveAll: doc(
    'removeModulesByOlderAddress',
    'Remove a private module for every system',
    { 204: NOTHING },
    OLDER,
  ),
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/registry-modules'

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = {
        registryName: query['filter[registry_name]'],
        provider: query['filter[provider]'],
        organizationName: query['filter[organization_name]'],
        q: query.q,
      }
      const modules = await service.list(ctx, path.organization_name, filter, page)
      return many(modules, href, (module) => toResource(ctx, module))
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'registry-modules:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  mountMember(app, `${collection}/:registry_name/:namespace/:name`)
  mountOlder(app)

  app.get('/api/v2/registry-modules/:id', { config: { doc: docs.showById } }, async ({ ctx, path }) =>
    one(await toResource(ctx, await service.getById(ctx, path.id))),
  )
}

function mountMember(app: App, named: string): void {
  const member = `${named}/:provider`

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(await toResource(ctx, await service.get(ctx, service.addressOf(path)))),
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes) },
      config: {
        doc: docs.update,
        access: (ctx, path) => service.get(ctx, service.addressOf(path), 'registry-modules:manage'),
      },
    },
    async ({ ctx, path, body }) => {
      const { attributes } = body.data
      const changed = await service.update(ctx, service.addressOf(path), camelKeys(attributes))
      return one(await toResource(ctx, changed))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, service.addressOf(path))
    return reply.code(204).send()
  })

  app.delete(named, { config: { doc: docs.removeAll } }, async ({ ctx, path }, reply) => {
    const { provider: _every, ...address } = service.addressOf(path)
    await service.remove(ctx, address)
    return reply.code(204).send()
  })
}

function mountOlder(app: App): void {
  const shown = '/api/v2/registry-modules/show/:organization_name/:name/:provider'
  const removed = '/api/v2/registry-modules/actions/delete/:organization_name/:name'

  app.get(shown, { config: { doc: docs.olderShow } }, async ({ ctx, path }) => {
    const address = service.privateAddress(path.organization_name, path.name, path.provider)
    return one(await toResource(ctx, await service.get(ctx, address)))
  })

  app.post(`${removed}/:provider`, { config: { doc: docs.olderRemove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, service.privateAddress(path.organization_name, path.name, path.provider))
    return reply.code(204).send()
  })

  app.post(removed, { config: { doc: docs.olderRemoveAll } }, async ({ ctx, path }, reply) => {
    const { provider: _every, ...address } = service.privateAddress(path.organization_name, path.name, '')
    await service.remove(ctx, address)
    return reply.code(204).send()
  })
}
