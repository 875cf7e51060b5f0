import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { Changes, Include, input, Search, ToMany } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import type { Page } from '../../lib/pagination.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { toResource as toVar, TYPE as VARS } from '../vars/resource.ts'
import * as vars from '../vars/service.ts'
import {
  Attributes,
  Relationships,
  ShownVarset,
  TYPE,
  toAttributes,
  toResource,
  toVariable,
} from './resource.ts'
import * as scope from './scope.ts'
import type { Varset } from './service.ts'
import * as service from './service.ts'
import * as variables from './variables.ts'

const INCLUDES = ['projects', 'vars', 'workspaces']

const Show = Type.Object({ include: Include(INCLUDES) })
const List = Type.Object({ ...Show.properties, q: Search('Only sets whose name contains this text.') })

const doc = documents('Variable sets', 'Variables that several workspaces share.')

const page = { 200: answerPage(ShownVarset, INCLUDES) }

const docs = {
  list: doc('listVariableSets', 'List the variable sets of an organization', page),
  listOfProject: doc('listProjectVariableSets', 'List the variable sets of a project', page),
  listOfWorkspace: doc('listWorkspaceVariableSets', 'List the variable sets that apply to a workspace', page),
  // The public API answers 200, not 201.
  create: doc('createVariableSet', 'Make a variable set', { 200: answerOne(ShownVarset) }),
  show: doc('showVariableSet', 'Show a variable set', { 200: answerOne(ShownVarset, INCLUDES) }),
  update: doc('updateVariableSet', 'Change a variable set', { 200: answerOne(ShownVarset, INCLUDES) }),
  replace: doc('replaceVariableSet', 'Change a variable set', { 200: answerOne(ShownVarset, INCLUDES) }),
  remove: doc('removeVariableSet', 'Remove a variable set, with its variables', { 204: NOTHING }),
}

const isGlobal = { failures: { unprocessable: 'It is global.' } } as const

const scopeDocs = {
  workspaces: {
    apply: doc('addVariableSetWorkspaces', 'Give a variable set to workspaces', { 204: NOTHING }, isGlobal),
    withdraw: doc(
      'removeVariableSetWorkspaces',
      'Take a variable set from workspaces',
      { 204: NOTHING },
      isGlobal,
    ),
  },
  projects: {
    apply: doc('addVariableSetProjects', 'Give a variable set to projects', { 204: NOTHING }, isGlobal),
    withdraw: doc(
      'removeVariableSetProjects',
      'Take a variable set from projects',
      { 204: NOTHING },
      isGlobal,
    ),
  },
}

async function presentPage(ctx: Ctx, found: Page<Varset>, href: string, wanted: string | undefined) {
  const resources = found.items.map(toResource)
  const included = await include(ctx, wanted, INCLUDES, resources)
  return many({ ...found, items: resources }, href, (resource) => resource, included)
}

async function present(ctx: Ctx, set: Varset, wanted: string | undefined) {
  const resource = toResource(set)
  return one(resource, await include(ctx, wanted, INCLUDES, [resource]))
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/varsets'

  includable(TYPE, async (ctx, ids) => (await service.listVisible(ctx, ids)).map(toResource))
  // Variables of workspaces and of sets have one type, and this slice knows both.
  includable(VARS, async (ctx, ids) => [
    ...(await vars.listVisible(ctx, ids)).map((each) => toVar(ctx, each)),
    ...(await variables.listVisible(ctx, ids)).map((each) => toVariable(ctx, each)),
  ])

  app.get(
    collection,
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const found = await service.list(ctx, path.organization_name, query.q, page)
      return presentPage(ctx, found, href, query.include)
    },
  )

  app.get(
    '/api/v2/projects/:id/varsets',
    { schema: { querystring: List }, config: { doc: docs.listOfProject } },
    async ({ ctx, path, query, page, href }) => {
      return presentPage(ctx, await service.listOfProject(ctx, path.id, query.q, page), href, query.include)
    },
  )

  app.get(
    '/api/v2/workspaces/:id/varsets',
    { schema: { querystring: List }, config: { doc: docs.listOfWorkspace } },
    async ({ ctx, path, query, page, href }) => {
      return presentPage(ctx, await service.listOfWorkspace(ctx, path.id, query.q, page), href, query.include)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: {
        doc: docs.create,
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'variable-sets:manage'),
      },
    },
    async ({ ctx, path, body }) => {
      const { name } = body.data.attributes
      const attributes = { ...toAttributes(body.data), name }
      return one(toResource(await service.create(ctx, path.organization_name, attributes)))
    },
  )

  mountMember(app)
  mountScope(app, 'workspaces')
  mountScope(app, 'projects')
}

function mountMember(app: App): void {
  const member = '/api/v2/varsets/:id'

  app.get(
    member,
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      return present(ctx, await service.get(ctx, path.id), query.include)
    },
  )

  for (const [method, doc] of [
    ['PATCH', docs.update],
    ['PUT', docs.replace],
  ] as const) {
    app.route({
      method,
      url: member,
      schema: { querystring: Show, body: input(TYPE, Changes(Attributes), Relationships) },
      config: { doc, access: (ctx, path) => service.getManaged(ctx, path.id) },
      handler: async ({ ctx, path, query, body }) => {
        return present(ctx, await service.update(ctx, path.id, toAttributes(body.data)), query.include)
      },
    })
  }

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}

/** Giving a set to some, and taking it away. */
function mountScope(app: App, kind: scope.Kind): void {
  const relationship = `/api/v2/varsets/:id/relationships/${kind}`
  for (const [method, doc, act] of [
    ['POST', scopeDocs[kind].apply, scope.apply],
    ['DELETE', scopeDocs[kind].withdraw, scope.withdraw],
  ] as const) {
    app.route({
      method,
      url: relationship,
      schema: { body: ToMany(kind) },
      config: { doc, access: (ctx, path) => service.getManaged(ctx, path.id) },
      handler: async ({ ctx, path, body }, reply) => {
        const ids = body.data.map(({ id }) => id)
        await act(ctx, path.id, kind, ids)
        return reply.code(204).send()
      },
    })
  }
}
