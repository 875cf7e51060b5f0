import { includable, include } from '../../http/includes.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, Changes, Include, input, OneOf, Search } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { Attributes, Relationships, ShownAgentPool, TYPE, toAttributes, toResource } from './resource.ts'
import * as service from './service.ts'

const INCLUDES = ['workspaces']

const Show = Type.Object({ include: Include(INCLUDES) })

const SORTS = {
  name: { column: 'name', descending: false },
  '-name': { column: 'name', descending: true },
  'created-at': { column: 'createdAt', descending: false },
  '-created-at': { column: 'createdAt', descending: true },
} as const

const List = Type.Object({
  ...Show.properties,
  q: Search('Only pools whose name contains this text.'),
  'filter[allowed_workspaces][name]': Search('Only pools that the workspace of this name may use.'),
  'filter[allowed_projects][name]': Search('Only pools that the workspaces of the project may use.'),
  sort: Type.Optional(
    About('By what, with - for the reverse.', OneOf(...(Object.keys(SORTS) as (keyof typeof SORTS)[]))),
  ),
})

const doc = documents('Agent pools', 'Groups of agents, which carry out runs on machines of their own.')

const docs = {
  list: doc('listAgentPools', 'List the agent pools of an organization', {
    200: answerPage(ShownAgentPool, INCLUDES),
  }),
  create: doc('createAgentPool', 'Make an agent pool', { 201: answerOne(ShownAgentPool) }),
  show: doc('showAgentPool', 'Show an agent pool', { 200: answerOne(ShownAgentPool, INCLUDES) }),
  update: doc('updateAgentPool', 'Change an agent pool', { 200: answerOne(ShownAgentPool) }),
  remove: doc(
    'removeAgentPool',
    'Remove an agent pool, with its agents and their tokens',
    { 204: NOTHING },
    { failures: { unprocessable: 'Workspaces, projects, the organization or unfinished runs use it.' } },
  ),
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/agent-pools'
  const member = '/api/v2/agent-pools/:id'

  includable(TYPE, async (ctx, ids) => (await service.listVisible(ctx, ids)).map(toResource))

  app.get(
    collection,
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = {
        q: query.q,
        allowedWorkspace: query['filter[allowed_workspaces][name]'],
        allowedProject: query['filter[allowed_projects][name]'],
        sort: SORTS[query.sort ?? 'name'],
      }
      const found = await service.list(ctx, path.organization_name, filter, page)
      const resources = found.items.map(toResource)
      const included = await include(ctx, query.include, INCLUDES, resources)
      return many({ ...found, items: resources }, href, (resource) => resource, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: {
        doc: docs.create,
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'agent-pools:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { name } = body.data.attributes
      const created = await service.create(ctx, path.organization_name, { ...toAttributes(body.data), name })
      return reply.code(201).send(one(toResource(created)))
    },
  )

  app.get(
    member,
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const resource = toResource(await service.get(ctx, path.id))
      return one(resource, await include(ctx, query.include, INCLUDES, [resource]))
    },
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes), Relationships) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, path.id, 'agent-pools:manage') },
    },
    async ({ ctx, path, body }) => {
      return one(toResource(await service.update(ctx, path.id, toAttributes(body.data))))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
