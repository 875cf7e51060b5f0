import { many } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Search } from '../../http/schema.ts'
import { answerPage } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import { Type } from '../../lib/type.ts'
import { ShownWorkspaceResource, toResource } from './resource.ts'
import type { Order } from './service.ts'
import * as service from './service.ts'

const COLUMNS: readonly Order['column'][] = [
  'address',
  'name',
  'nameIndex',
  'provider',
  'providerType',
  'module',
  'updatedAt',
]

const Query = Type.Object({
  q: Search('Only resources whose address contains this text.'),
  sort: Type.Optional(
    Type.String({
      maxLength: 255,
      description: `One of ${COLUMNS.join(', ')}, followed by \`:asc\` or \`:desc\`.`,
      examples: ['updatedAt:desc'],
    }),
  ),
})

const doc = documents('Workspaces', 'What has a configuration, a state and runs.')

const docs = {
  list: doc('listWorkspaceResources', 'List what the current state of a workspace says that it manages', {
    200: answerPage(ShownWorkspaceResource),
  }),
}

export const routes: Routes = (app) => {
  app.get(
    '/api/v2/workspaces/:id/resources',
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const options = { text: query.q, order: () => toOrder(query.sort) }
      return many(await service.list(ctx, path.id, options, page), href, toResource)
    },
  )
}

function toOrder(sort = 'address:asc'): Order {
  const [name, direction] = sort.split(':')
  const column = COLUMNS.find((known) => known === name)
  if (column && (direction === 'asc' || direction === 'desc'))
    return { column, descending: direction === 'desc' }
  throw new AppError('badRequest', `sort must be one of ${COLUMNS.join(', ')}, with :asc or :desc`, {
    parameter: 'sort',
  })
}
