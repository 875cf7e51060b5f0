import type { Ctx } from '../../context.ts'
import { all, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input } from '../../http/schema.ts'
import { answerAll, answerOne, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import { Attributes, ShownVar, TYPE, toResource } from '../vars/resource.ts'
import type { Var } from '../vars/service.ts'
import { ShownVarsetVar, toVariable } from './resource.ts'
import type { VarsetVar } from './service.ts'
import * as service from './service.ts'
import * as variables from './variables.ts'

const doc = documents('Variable sets', 'Variables that several workspaces share.')

const docs = {
  list: doc('listVariableSetVariables', 'List the variables of a set', { 200: answerAll(ShownVarsetVar) }),
  // The public API answers 200, not 201.
  create: doc('createVariableSetVariable', 'Add a variable to a set', { 200: answerOne(ShownVarsetVar) }),
  show: doc('showVariableSetVariable', 'Show a variable of a set', { 200: answerOne(ShownVarsetVar) }),
  update: doc('updateVariableSetVariable', 'Change a variable of a set', { 200: answerOne(ShownVarsetVar) }),
  remove: doc('removeVariableSetVariable', 'Remove a variable from a set', { 204: NOTHING }),
  effective: doc(
    'listEffectiveVariables',
    'List what the runs of a workspace are given, by itself and by sets',
    { 200: answerAll(Type.Union([ShownVar, ShownVarsetVar])) },
    { description: 'Without the variables that others override.' },
  ),
}

const toEither = (ctx: Ctx, variable: Var | VarsetVar): Resource =>
  'varsetId' in variable ? toVariable(ctx, variable) : toResource(ctx, variable)

export const variableRoutes: Routes = (app) => {
  const collection = '/api/v2/varsets/:id/relationships/vars'
  const member = `${collection}/:variable_id`

  app.get('/api/v2/workspaces/:id/all-vars', { config: { doc: docs.effective } }, async ({ ctx, path }) => {
    return all(await service.listEffective(ctx, path.id), ({ variable }) => toEither(ctx, variable))
  })

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path }) => {
    return all(await variables.list(ctx, path.id), (each) => toVariable(ctx, each))
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: { doc: docs.create, access: (ctx, path) => service.getManaged(ctx, path.id) },
    },
    async ({ ctx, path, body }) => {
      return one(toVariable(ctx, await variables.create(ctx, path.id, body.data.attributes)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(toVariable(ctx, await variables.show(ctx, path.id, path.variable_id)))
  })

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: {
        doc: docs.update,
        access: (ctx, path) => variables.showManaged(ctx, path.id, path.variable_id),
      },
    },
    async ({ ctx, path, body }) => {
      const changed = await variables.update(ctx, path.id, path.variable_id, body.data.attributes)
      return one(toVariable(ctx, changed))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await variables.remove(ctx, path.id, path.variable_id)
    return reply.code(204).send()
  })
}
