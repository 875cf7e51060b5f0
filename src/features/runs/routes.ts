import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Include, input } from '../../http/schema.ts'
import { answerOne, answerPage } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import { LIST_OF_ORGANIZATION, LIST_OF_WORKSPACE, toFilter } from './list-schema.ts'
import { toResource } from './resource.ts'
import { Attributes, Relationships, ShownRun, TYPE } from './schema.ts'
import type { Run } from './service.ts'
import * as service from './service.ts'

/** Everything the public API includes; what a run does not have brings nothing along. */
const INCLUDES = [
  'apply',
  'comments',
  'configuration-version',
  'configuration-version.ingress-attributes',
  'confirmed-by',
  'cost-estimate',
  'created-by',
  'plan',
  'policy-checks',
  'run-events',
  'task-stages',
  'tf-policy-evaluations',
  'workspace',
]

const Show = Type.Object({ include: Include(INCLUDES) })

const doc = documents('Runs', 'Plans of changes to infrastructure, and the changes themselves.')

const docs = {
  create: doc('createRun', 'Make a run', { 201: answerOne(ShownRun) }),
  show: doc('showRun', 'Show a run', { 200: answerOne(ShownRun, INCLUDES) }),
  list: doc('listRunsOfWorkspace', 'List the runs of a workspace', { 200: answerPage(ShownRun, INCLUDES) }),
  listAll: doc('listRunsOfOrganization', 'List the runs of an organization', {
    200: answerPage(ShownRun, INCLUDES),
  }),
}

async function present(ctx: Ctx, runs: readonly Run[], wanted: string | undefined) {
  const resources = await Promise.all(runs.map((run) => toResource(ctx, run)))
  return { resources, included: await include(ctx, wanted, INCLUDES, resources) }
}

/** What the request tells of the client that sent it. */
function originOf({ headers }: FastifyRequest) {
  const cloud = headers['x-terraform-integration'] === 'cloud'
  const terraform = headers['terraform-version'] !== undefined
  return {
    source: cloud ? 'terraform+cloud' : terraform ? 'terraform' : 'tfe-api',
    triggerReason: 'manual',
    rendersOutput: cloud,
    message: cloud || terraform ? 'Triggered via CLI' : 'Triggered via the API',
  }
}

type Body = Static<ReturnType<typeof input<typeof Attributes, typeof Relationships>>>

function toNewRun({ data: { attributes, relationships } }: Body) {
  return {
    ...camelKeys(attributes),
    workspaceId: relationships.workspace.data.id,
    configurationVersionId: relationships['configuration-version']?.data.id,
  }
}

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) => {
    const runs = await service.listVisible(ctx, ids)
    return Promise.all(runs.map((run) => toResource(ctx, run)))
  })

  app.post(
    '/api/v2/runs',
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: { doc: docs.create, access: async (ctx) => authorizeAnyone(ctx) },
    },
    async (request, reply) => {
      const { ctx, body } = request
      const run = await service.create(ctx, toNewRun(body), originOf(request))
      return reply.code(201).send(one(await toResource(ctx, run)))
    },
  )

  app.get(
    '/api/v2/runs/:id',
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const { resources, included } = await present(ctx, [await service.get(ctx, path.id)], query.include)
      return one(resources[0] as Resource, included)
    },
  )

  app.get(
    '/api/v2/workspaces/:id/runs',
    {
      schema: { querystring: Type.Object({ ...Show.properties, ...LIST_OF_WORKSPACE }) },
      config: { doc: docs.list },
    },
    async ({ ctx, path, query, page, href }) => {
      const found = await service.listOfWorkspace(ctx, path.id, toFilter(query, ctx.now()), page)
      const { resources, included } = await present(ctx, found.items, query.include)
      return many({ ...found, items: resources }, href, (resource) => resource, included)
    },
  )

  app.get(
    '/api/v2/organizations/:organization_name/runs',
    {
      schema: { querystring: Type.Object({ ...Show.properties, ...LIST_OF_ORGANIZATION }) },
      config: { doc: docs.listAll },
    },
    async ({ ctx, path, query, page, href }) => {
      const filter = toFilter(query, ctx.now())
      const found = await service.listOfOrganization(ctx, path.organization_name, filter, page)
      const { resources, included } = await present(ctx, found.items, query.include)
      return many({ ...found, items: resources }, href, (resource) => resource, included)
    },
  )
}
