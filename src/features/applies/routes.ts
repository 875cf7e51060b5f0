import type { Routes } from '../../http/routes.ts'
import * as service from './service.ts'

export const routes: Routes = (app) => {
  app.get('/api/v2/applies/:id', async ({ ctx, path }) => service.get(ctx, path.id))
  app.get('/api/v2/applies/:id/errored-state', async ({ ctx, path }) => service.get(ctx, path.id))
}
