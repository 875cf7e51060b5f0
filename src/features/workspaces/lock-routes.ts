import { Type } from 'typebox'
import { one } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable } from '../../http/schema.ts'
import * as locks from './locks.ts'
import { toResource } from './resource.ts'
import * as service from './service.ts'

const Reason = Type.Object({ reason: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))) })

/** Documentation sends the reason bare, the Go client inside a resource object of no type. */
const Body = Type.Object({
  ...Reason.properties,
  data: Type.Optional(Type.Object({ attributes: Type.Optional(Reason) })),
})

export const lockRoutes: Routes = (app) => {
  const actions = '/api/v2/workspaces/:id/actions'

  app.post(
    `${actions}/lock`,
    {
      schema: { body: Body },
      config: { access: (ctx, path) => service.get(ctx, { id: path.id }, 'workspaces:lock') },
    },
    async ({ ctx, path, body }) => {
      const reason = body.reason ?? body.data?.attributes?.reason ?? null
      return one(await toResource(ctx, await locks.lock(ctx, path.id, reason)))
    },
  )

  app.post(`${actions}/unlock`, async ({ ctx, path }) => {
    return one(await toResource(ctx, await locks.unlock(ctx, path.id)))
  })

  app.post(`${actions}/force-unlock`, async ({ ctx, path }) => {
    return one(await toResource(ctx, await locks.forceUnlock(ctx, path.id)))
  })
}
