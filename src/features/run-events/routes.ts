import { includable, include } from '../../http/includes.ts'
import { all, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Include, Nullable } from '../../http/schema.ts'
import { answerAll, answerOne, Links, Moment, RelatedOrNone, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { toActor } from '../users/resource.ts'
import type { RunEvent } from './service.ts'
import * as service from './service.ts'

const TYPE = 'run-events'

const INCLUDES = ['actor', 'comment']

const Query = Type.Object({ include: Include(INCLUDES) })

const Event = Shown('RunEvent', TYPE, {
  id: 're-VQLvX2vRt8jcjVpE',
  attributes: {
    action: Type.String({
      description: 'What happened: the status that the run came to, or what somebody asked of it.',
      examples: ['planned', 'commented', 'cancel_requested'],
    }),
    description: Nullable(Type.String({ description: 'More of it, for people.' })),
    'created-at': Moment('When it happened.'),
  },
  relationships: { actor: RelatedOrNone('users'), comment: RelatedOrNone('comments') },
  links: Links('self'),
})

const doc = documents('Run events', 'What happened to runs, and who did it.')

const docs = {
  list: doc('listRunEvents', 'List what happened to a run, in order', { 200: answerAll(Event, INCLUDES) }),
  show: doc('showRunEvent', 'Show something that happened to a run', { 200: answerOne(Event, INCLUDES) }),
}

const toResource = (event: RunEvent): Resource => ({
  id: event.id,
  type: TYPE,
  attributes: {
    action: event.action,
    description: event.description,
    'created-at': event.createdAt,
  },
  relationships: {
    actor: toActor(event.actorUserId, event.actorTeamId),
    comment: toOne('comments', event.commentId),
  },
  links: { self: `/api/v2/run-events/${event.id}` },
})

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) => (await service.listVisible(ctx, ids)).map(toResource))

  app.get(
    '/api/v2/runs/:id/run-events',
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query }) => {
      const resources = (await service.list(ctx, path.id)).map(toResource)
      return all(resources, (each) => each, await include(ctx, query.include, INCLUDES, resources))
    },
  )

  app.get(
    '/api/v2/run-events/:id',
    { schema: { querystring: Query }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const resource = toResource(await service.get(ctx, path.id))
      return one(resource, await include(ctx, query.include, INCLUDES, [resource]))
    },
  )
}
