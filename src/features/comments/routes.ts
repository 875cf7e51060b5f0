import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Include, input, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Links, Moment, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as runs from '../runs/service.ts'
import { toActor } from '../users/resource.ts'
import type { Comment } from './service.ts'
import * as service from './service.ts'

const TYPE = 'comments'

const INCLUDES = ['created-by', 'run-event']

const Attributes = Type.Object({
  body: Text({ maxLength: 16_384, description: 'What there is to say.', examples: ['Looks good'] }),
})

const Show = Type.Object({ include: Include(INCLUDES) })

const ShownComment = Shown('Comment', TYPE, {
  id: 'wsc-fqTuPDGwuEZcsPgf',
  attributes: { ...Attributes.properties, 'created-at': Moment('When it was made.') },
  relationships: { 'created-by': RelatedOrNone('users'), 'run-event': RelatedOrNone('run-events') },
  links: Links('self'),
})

const doc = documents('Comments', 'What people say about runs.')

const docs = {
  list: doc('listComments', 'List the comments on a run, the oldest first', {
    200: answerPage(ShownComment, INCLUDES),
  }),
  create: doc('createComment', 'Comment on a run', { 201: answerOne(ShownComment) }),
  show: doc('showComment', 'Show a comment', { 200: answerOne(ShownComment, INCLUDES) }),
}

function toResource(comment: Comment): Resource {
  const { id, body, createdAt, createdByTeamId, createdByUserId, runEventId } = comment
  return {
    id,
    type: TYPE,
    attributes: { body, 'created-at': createdAt },
    relationships: {
      'created-by': toActor(createdByUserId, createdByTeamId),
      'run-event': {
        ...toOne('run-events', runEventId),
        ...(runEventId && { links: { related: `/api/v2/run-events/${runEventId}` } }),
      },
    },
    links: { self: `/api/v2/comments/${id}` },
  }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/runs/:id/comments'

  includable(TYPE, async (ctx, ids) => (await service.listVisible(ctx, ids)).map(toResource))

  app.get(
    collection,
    { schema: { querystring: Show }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const comments = await service.list(ctx, path.id, page)
      const resources = comments.items.map(toResource)
      const included = await include(ctx, query.include, INCLUDES, resources)
      return many({ ...comments, items: resources }, href, (resource) => resource, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: { doc: docs.create, access: (ctx, path) => runs.get(ctx, path.id, 'runs:queue') },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.id, body.data.attributes.body)
      return reply.code(201).send(one(toResource(created)))
    },
  )

  app.get(
    '/api/v2/comments/:id',
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const resource = toResource(await service.get(ctx, path.id))
      return one(resource, await include(ctx, query.include, INCLUDES, [resource]))
    },
  )
}
