import { one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable } from '../../http/schema.ts'
import { answerOne } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as locks from './locks.ts'
import { toResource } from './resource.ts'
import { ShownWorkspace } from './schema.ts'
import * as service from './service.ts'

const Reason = Type.Object({
  reason: Type.Optional(
    Nullable(Type.String({ maxLength: 1000, description: 'For people.', examples: ['Maintenance'] })),
  ),
})

/** Documentation sends the reason bare, the Go client inside a resource object of no type. */
const Body = Type.Object({
  ...Reason.properties,
  data: Type.Optional(Type.Object({ attributes: Type.Optional(Reason) })),
})

const doc = documents('Workspaces', 'What has a configuration, a state and runs.')
const answers = { 200: answerOne(ShownWorkspace) }

const docs = {
  lock: doc('lockWorkspace', 'Lock a workspace, so that no run changes it', answers, {
    failures: { conflict: 'It is locked already.' },
  }),
  unlock: doc('unlockWorkspace', 'Unlock a workspace that the caller locked', answers, {
    failures: {
      conflict: 'It is not locked, or somebody else locked it.',
      unprocessable: 'A state version is still pending.',
    },
  }),
  forceUnlock: doc('forceUnlockWorkspace', 'Unlock a workspace, whoever locked it', answers, {
    failures: { conflict: 'It is not locked.' },
  }),
}

export const lockRoutes: Routes = (app) => {
  const actions = '/api/v2/workspaces/:id/actions'

  app.post(
    `${actions}/lock`,
    {
      schema: { body: Body },
      config: { doc: docs.lock, access: (ctx, path) => service.get(ctx, { id: path.id }, 'workspaces:lock') },
    },
    async ({ ctx, path, body }) => {
      const reason = body.reason ?? body.data?.attributes?.reason ?? null
      return one(await toResource(ctx, await locks.lock(ctx, path.id, reason)))
    },
  )

  app.post(`${actions}/unlock`, { config: { doc: docs.unlock } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await locks.unlock(ctx, path.id)))
  })

  app.post(`${actions}/force-unlock`, { config: { doc: docs.forceUnlock } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await locks.forceUnlock(ctx, path.id)))
  })
}
