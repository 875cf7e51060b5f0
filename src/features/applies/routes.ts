import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import * as service from './service.ts'

const doc = documents(
  'Applies',
  'The results of carrying out the plans of runs. There are no runs yet, so there are none.',
)

const docs = {
  show: doc('showApply', 'Show an apply', {}),
  erroredState: doc('showErroredState', 'Fetch the state that an apply could not save', {}),
}

export const routes: Routes = (app) => {
  app.get('/api/v2/applies/:id', { config: { doc: docs.show } }, async ({ ctx, path }) =>
    service.get(ctx, path.id),
  )
  app.get(
    '/api/v2/applies/:id/errored-state',
    { config: { doc: docs.erroredState } },
    async ({ ctx, path }) => service.get(ctx, path.id),
  )
}
