import { includable } from '../../http/includes.ts'
import { one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerOne, answerPlain } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as erroredStates from './errored-states.ts'
import { ShownApply, TYPE, toResource } from './resource.ts'
import * as service from './service.ts'

const doc = documents('Applies', 'The results of carrying out the plans of runs.')

const docs = {
  show: doc('showApply', 'Show an apply', { 200: answerOne(ShownApply) }),
  erroredState: doc(
    'showErroredState',
    'Fetch the state that an apply could not save',
    {
      307: answerPlain(
        'A link to the raw state in `location`, which holds for one minute.',
        Type.String(),
        'text/plain',
      ),
    },
    { description: 'Each call makes a new link. 404 also when there is no such state.' },
  ),
}

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) =>
    (await service.listVisible(ctx, ids)).map((apply) => toResource(ctx, apply)),
  )

  app.get('/api/v2/applies/:id', { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(ctx, await service.get(ctx, path.id))),
  )

  app.get(
    '/api/v2/applies/:id/errored-state',
    { config: { doc: docs.erroredState } },
    async ({ ctx, path }, reply) => {
      const location = await erroredStates.link(ctx, path.id)
      return reply
        .code(307)
        .header('location', location)
        .header('cache-control', 'no-store')
        .type('text/plain')
        .send('307 Temporary Redirect')
    },
  )
}
