import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { all, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, PathParams, Routes } from '../../http/routes.ts'
import { Changes, input, Search, ToOne } from '../../http/schema.ts'
import { answerAll, answerOne, NOTHING } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import { Type } from '../../lib/type.ts'
import * as workspaces from '../workspaces/service.ts'
import { Attributes, ShownVar, TYPE, toResource } from './resource.ts'
import type { Var, VarRef } from './service.ts'
import * as service from './service.ts'

const doc = documents('Variables', 'What the runs of a workspace are given: input variables and environment.')

const docs = {
  list: doc('listVariables', 'List the variables of a workspace', { 200: answerAll(ShownVar) }),
  create: doc('createVariable', 'Give a workspace a variable', { 201: answerOne(ShownVar) }),
  show: doc('showVariable', 'Show a variable', { 200: answerOne(ShownVar) }),
}

const memberDocs = (suffix: string) => ({
  update: doc(`updateVariable${suffix}`, 'Change a variable', { 200: answerOne(ShownVar) }),
  remove: doc(`removeVariable${suffix}`, 'Remove a variable', { 204: NOTHING }),
})

const legacyDocs = {
  list: doc(
    'listVariablesEverywhere',
    'List the variables of one workspace, or of all',
    { 200: answerAll(ShownVar) },
    {
      description: 'The older address; use those below `/workspaces`.',
      failures: { notFound: 'There is no such workspace.' },
    },
  ),
  create: doc('createVariableById', 'Give a workspace a variable', { 201: answerOne(ShownVar) }),
}

const ORGANIZATION = 'filter[organization][name]'
const WORKSPACE = 'filter[workspace][name]'

const Filter = Type.Object({
  [ORGANIZATION]: Search('Only variables of the workspace of this organization; with the next one.'),
  [WORKSPACE]: Search('Only variables of the workspace of this name; with the one before.'),
})

const Owner = Type.Object({ workspace: ToOne('workspaces') })

const refOf = ({ id, variable_id: variableId }: PathParams): VarRef =>
  variableId === undefined ? { id } : { id: variableId, workspaceId: id }

export const routes: Routes = (app) => {
  const collection = '/api/v2/workspaces/:id/vars'
  const member = `${collection}/:variable_id`

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path }) => {
    return all(await service.list(ctx, { id: path.id }), (each) => toResource(ctx, each))
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => workspaces.get(ctx, { id: path.id }, 'variables:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.id, body.data.attributes)
      return reply.code(201).send(one(toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(toResource(ctx, await service.get(ctx, refOf(path))))
  })

  mountMember(app, member, memberDocs(''))
  mountLegacy(app)
}

function mountMember(app: App, member: string, docs: ReturnType<typeof memberDocs>): void {
  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, refOf(path), 'variables:manage') },
    },
    async ({ ctx, path, body }) => {
      return one(toResource(ctx, await service.update(ctx, refOf(path), body.data.attributes)))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, refOf(path))
    return reply.code(204).send()
  })
}

/** The older addresses, which name the workspace in the query or the body. */
function mountLegacy(app: App): void {
  app.get(
    '/api/v2/vars',
    { schema: { querystring: Filter }, config: { doc: legacyDocs.list } },
    async ({ ctx, query }) => {
      return all(await listFiltered(ctx, query[ORGANIZATION], query[WORKSPACE]), (each) =>
        toResource(ctx, each),
      )
    },
  )

  app.post(
    '/api/v2/vars',
    {
      schema: { body: input(TYPE, Attributes, Owner) },
      config: { doc: legacyDocs.create, access: async (ctx) => authorizeAnyone(ctx) },
    },
    async ({ ctx, body }, reply) => {
      const { attributes, relationships } = body.data
      const created = await service.create(ctx, relationships.workspace.data.id, attributes)
      return reply.code(201).send(one(toResource(ctx, created)))
    },
  )

  mountMember(app, '/api/v2/vars/:id', memberDocs('ById'))
}

function listFiltered(
  ctx: Ctx,
  organizationName: string | undefined,
  name: string | undefined,
): Promise<Var[]> {
  if (organizationName && name) return service.list(ctx, { organizationName, name })
  if (!organizationName && !name) return service.listEverywhere(ctx)
  const parameter = name ? ORGANIZATION : WORKSPACE
  throw new AppError('badRequest', `${parameter} is missing: both filters go together`, { parameter })
}
