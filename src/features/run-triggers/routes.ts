import { include } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Include, input, ToOne } from '../../http/schema.ts'
import { answerOne, answerPage, Links, Moment, NOTHING, Related, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as workspaces from '../workspaces/service.ts'
import type { RunTrigger } from './service.ts'
import * as service from './service.ts'

const TYPE = 'run-triggers'

const INCLUDES = ['sourceable', 'workspace']

const Show = Type.Object({ include: Include(INCLUDES) })

const List = Type.Object({
  ...Show.properties,
  'filter[run-trigger][type]': Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        '`inbound` for what makes runs of the workspace, `outbound` for what its runs set off; required.',
    }),
  ),
})

const Relationships = Type.Object({ sourceable: ToOne('workspaces') })

const Trigger = Shown('RunTrigger', TYPE, {
  id: 'rt-3yVQZvHzf5j3WRJ1',
  attributes: {
    'workspace-name': Type.String({ description: 'Whose runs are made.' }),
    'sourceable-name': Type.String({ description: 'Whose applied runs make them.' }),
    'created-at': Moment('When it was made.'),
  },
  relationships: { workspace: Related('workspaces'), sourceable: Related('workspaces') },
  links: Links('self'),
})

const doc = documents('Run triggers', 'Runs of workspaces that begin when those of others are applied.')

const docs = {
  list: doc('listRunTriggers', 'List the run triggers of a workspace', {
    200: answerPage(Trigger, INCLUDES),
  }),
  create: doc('createRunTrigger', 'Let the runs of another workspace set off runs', {
    201: answerOne(Trigger),
  }),
  show: doc('showRunTrigger', 'Show a run trigger', { 200: answerOne(Trigger, INCLUDES) }),
  remove: doc('removeRunTrigger', 'Remove a run trigger', { 204: NOTHING }),
}

function toResource(trigger: RunTrigger): Resource {
  const to = (id: string) => ({ ...toOne('workspaces', id), links: { related: `/api/v2/workspaces/${id}` } })
  return {
    id: trigger.id,
    type: TYPE,
    attributes: {
      'workspace-name': trigger.workspaceName,
      'sourceable-name': trigger.sourceableName,
      'created-at': trigger.createdAt,
    },
    relationships: { workspace: to(trigger.workspaceId), sourceable: to(trigger.sourceableId) },
    links: { self: `/api/v2/run-triggers/${trigger.id}` },
  }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/workspaces/:id/run-triggers'
  const member = '/api/v2/run-triggers/:id'

  app.get(
    collection,
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const triggers = await service.list(ctx, path.id, query['filter[run-trigger][type]'], page)
      const resources = triggers.items.map(toResource)
      const included = await include(ctx, query.include, INCLUDES, resources)
      return many({ ...triggers, items: resources }, href, (resource) => resource, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Type.Object({}), Relationships) },
      config: {
        doc: docs.create,
        access: (ctx, path) => workspaces.get(ctx, { id: path.id }, 'workspaces:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.id, body.data.relationships.sourceable.data.id)
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

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
