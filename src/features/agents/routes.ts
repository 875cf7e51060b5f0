import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, OneOf } from '../../http/schema.ts'
import { answerOne, answerPage, Links, Moment, NOTHING, Related, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { Agent } from './service.ts'
import * as service from './service.ts'

const TYPE = 'agents'

const SINCE = 'filter[last-ping-since]'

const List = Type.Object({
  [SINCE]: Type.Optional(
    Type.String({ description: 'Only agents that were heard of since this time, in ISO 8601.' }),
  ),
  sort: Type.Optional(About('By what, with - for the reverse.', OneOf('created-at', '-created-at'))),
})

const ShownAgent = Shown('Agent', TYPE, {
  id: 'agent-A726QeosTCpCumAs',
  attributes: {
    name: Type.String({ examples: ['build-7'] }),
    status: About(
      'What it does: `unknown` after two minutes and `errored` after two hours of silence.',
      OneOf('idle', 'busy', 'unknown', 'errored', 'exited'),
    ),
    'ip-address': Type.String({ examples: ['192.0.2.17'] }),
    version: Type.String({ description: 'Of the agent’s program.', examples: ['0.1.0'] }),
    'last-ping-at': Moment('When it was last heard of.'),
    'created-at': Moment('When it was first heard of.'),
  },
  relationships: { 'agent-pool': Related('agent-pools') },
  links: Links('self'),
})

const doc = documents('Agents', 'Programs that carry out runs on machines of their own.')

const docs = {
  list: doc('listAgents', 'List the agents of a pool', { 200: answerPage(ShownAgent) }),
  show: doc('showAgent', 'Show an agent', { 200: answerOne(ShownAgent) }),
  remove: doc(
    'removeAgent',
    'Forget an agent that is not there any more',
    { 204: NOTHING },
    { failures: { preconditionFailed: 'It is idle or busy.' } },
  ),
}

const toResource = (agent: Agent): Resource => ({
  id: agent.id,
  type: TYPE,
  attributes: {
    name: agent.name,
    status: agent.status,
    'ip-address': agent.ipAddress,
    version: agent.version,
    'last-ping-at': agent.lastPingAt,
    'created-at': agent.createdAt,
  },
  relationships: { 'agent-pool': toOne('agent-pools', agent.agentPoolId) },
  links: { self: `/api/v2/agents/${agent.id}` },
})

export const routes: Routes = (app) => {
  const member = '/api/v2/agents/:id'

  app.get(
    '/api/v2/agent-pools/:id/agents',
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { since: query[SINCE], descending: query.sort === '-created-at' }
      return many(await service.list(ctx, path.id, filter, page), href, toResource)
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(toResource(await service.get(ctx, path.id)))
  })

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
