import { includable } from '../../http/includes.ts'
import { all, many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerAll, answerOne, answerPage } from '../../http/shown.ts'
import { ShownOutput, TYPE, toListed, toRevealed, toWorkspaceOutput, WORKSPACE_TYPE } from './resource.ts'
import * as service from './service.ts'

const doc = documents('State version outputs', 'What a configuration tells others, as a state has it.')

const docs = {
  list: doc('listStateVersionOutputs', 'List the outputs of a state version', {
    200: answerPage(ShownOutput),
  }),
  current: doc('listCurrentStateVersionOutputs', 'List the outputs of the current state of a workspace', {
    200: answerAll(ShownOutput),
  }),
  show: doc('showStateVersionOutput', 'Show an output of a state version, with its value', {
    200: answerOne(ShownOutput),
  }),
}

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) =>
    (await service.listVisible(ctx, ids)).map((output) => toListed(ctx, output)),
  )
  includable(WORKSPACE_TYPE, async (ctx, ids) =>
    (await service.listVisible(ctx, ids)).map((output) => toWorkspaceOutput(ctx, output)),
  )

  app.get(
    '/api/v2/state-versions/:id/outputs',
    { config: { doc: docs.list } },
    async ({ ctx, path, page, href }) =>
      many(await service.list(ctx, path.id, page), href, (output) => toListed(ctx, output)),
  )

  // Clients read one page only, so there are no others.
  app.get(
    '/api/v2/workspaces/:id/current-state-version-outputs',
    { config: { doc: docs.current } },
    async ({ ctx, path }) => all(await service.listCurrent(ctx, path.id), (output) => toListed(ctx, output)),
  )

  app.get('/api/v2/state-version-outputs/:id', { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toRevealed(ctx, await service.get(ctx, path.id))),
  )
}
