import { many } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { ToMany } from '../../http/schema.ts'
import { NOTHING } from '../../http/shown.ts'
import { answerWorkspaces, toResource } from '../workspaces/resource.ts'
import * as workspaces from '../workspaces/service.ts'
import * as service from './service.ts'

const doc = documents('Remote state consumers', 'Workspaces whose runs may read the state of another one.')

const CHANGES = [
  {
    method: 'POST',
    how: 'add',
    doc: doc('addRemoteStateConsumers', 'Let runs of workspaces read the state of a workspace', {
      204: NOTHING,
    }),
  },
  {
    method: 'PATCH',
    how: 'replace',
    doc: doc(
      'replaceRemoteStateConsumers',
      'Choose the workspaces whose runs read the state of a workspace',
      {
        204: NOTHING,
      },
    ),
  },
  {
    method: 'DELETE',
    how: 'remove',
    doc: doc('removeRemoteStateConsumers', 'Keep runs of workspaces from reading the state of a workspace', {
      204: NOTHING,
    }),
  },
] as const

const list = doc(
  'listRemoteStateConsumers',
  'List the workspaces whose runs may read the state of a workspace',
  {
    200: answerWorkspaces,
  },
)

export const routes: Routes = (app) => {
  const url = '/api/v2/workspaces/:id/relationships/remote-state-consumers'

  app.get(url, { config: { doc: list } }, async ({ ctx, path, page, href }) =>
    many(await service.list(ctx, path.id, page), href, (workspace) => toResource(ctx, workspace)),
  )

  for (const { method, how, doc } of CHANGES) {
    app.route({
      method,
      url,
      schema: { body: ToMany('workspaces') },
      config: {
        doc,
        access: (ctx, path) => workspaces.get(ctx, { id: path.id }, 'workspaces:manage'),
      },
      handler: async ({ ctx, path, body }, reply) => {
        const ids = body.data.map(({ id }) => id)
        await service.change(ctx, path.id, how, ids)
        return reply.code(204).send()
      },
    })
  }
}
