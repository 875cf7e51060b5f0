import type { Static } from 'typebox'
import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { About, Include, input, Values, valuesOf } from '../../http/schema.ts'
import { answerOne, answerPage } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { AppError } from '../../lib/errors.ts'
import { Type } from '../../lib/type.ts'
import * as workspaces from '../workspaces/service.ts'
import { toNewResource, toResource } from './resource.ts'
import { Attributes, Relationships, Rollback, ShownStateVersion, TYPE } from './schema.ts'
import type { NewStateVersion, StateVersion } from './service.ts'
import * as service from './service.ts'

/** Everything the public API includes. */
const INCLUDES = ['created-by', 'outputs', 'run', 'run.configuration-version', 'run.created-by']

const Show = Type.Object({ include: Include(INCLUDES) })

const List = Type.Object({
  ...Show.properties,
  'filter[organization][name]': Type.Optional(
    Type.String({ maxLength: 255, description: 'The organization of the workspace. Required.' }),
  ),
  'filter[workspace][name]': Type.Optional(
    Type.String({ maxLength: 255, description: 'The workspace. Required.' }),
  ),
  'filter[status]': Type.Optional(
    About('Only versions of these statuses: pending, finalized, discarded.', Values),
  ),
})

/** A state that is sent as a part of the request; larger ones travel by the links of their version. */
const MAX_INLINE_BYTES = 32 * 2 ** 20

/** Seconds after which the CLI shall save what it has done so far of an apply on its own machine. */
const SNAPSHOT_SECONDS = 30
const SNAPSHOTS = ['x-terraform-snapshot-interval', String(SNAPSHOT_SECONDS)] as const

const doc = documents(
  'State versions',
  'What the engine knows of the infrastructure of a workspace, as it changed.',
)

const refused = {
  failures: {
    conflict: 'The caller has not locked the workspace, or the state does not follow the current one.',
    preconditionFailed: 'The state has another MD5 than was announced.',
    tooLarge: 'The state is larger than allowed.',
    unprocessable: 'It is not a state.',
  },
} as const

const docs = {
  list: doc(
    'listStateVersions',
    'List the state versions of a workspace, the newest first',
    {
      200: answerPage(ShownStateVersion, INCLUDES),
    },
    { failures: { notFound: 'There is no such workspace, or the caller may not read its states.' } },
  ),
  create: doc('createStateVersion', 'Save a state', { 201: answerOne(ShownStateVersion) }, refused),
  rollBack: doc(
    'rollBackState',
    'Make an earlier state the current one',
    { 201: answerOne(ShownStateVersion) },
    {
      failures: { conflict: refused.failures.conflict, unprocessable: 'The state has no serial.' },
    },
  ),
  current: doc('showCurrentStateVersion', 'Show the current state version of a workspace', {
    200: answerOne(ShownStateVersion, INCLUDES),
  }),
  show: doc('showStateVersion', 'Show a state version', { 200: answerOne(ShownStateVersion, INCLUDES) }),
}

async function present(ctx: Ctx, versions: readonly StateVersion[], wanted: string | undefined) {
  const resources = versions.map((version) => toResource(ctx, version))
  return { resources, included: await include(ctx, wanted, INCLUDES, resources) }
}

async function presentOne(ctx: Ctx, version: StateVersion, wanted: string | undefined) {
  const resource = toResource(ctx, version)
  return one(resource, await include(ctx, wanted, INCLUDES, [resource]))
}

export const routes: Routes = (app) => {
  includable(TYPE, async (ctx, ids) =>
    (await service.listVisible(ctx, ids)).map((version) => toResource(ctx, version)),
  )

  app.get(
    '/api/v2/state-versions',
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, query, page, href }) => {
      const of = {
        organizationName: required(query, 'filter[organization][name]'),
        name: required(query, 'filter[workspace][name]'),
      }
      const found = await service.list(ctx, of, toStatuses(query['filter[status]']), page)
      const { resources, included } = await present(ctx, found.items, query.include)
      return many({ ...found, items: resources }, href, (resource) => resource, included)
    },
  )

  app.get(
    '/api/v2/state-versions/:id',
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => presentOne(ctx, await service.get(ctx, path.id), query.include),
  )

  app.get(
    '/api/v2/workspaces/:id/current-state-version',
    { schema: { querystring: Show }, config: { doc: docs.current } },
    async ({ ctx, path, query }, reply) => {
      reply.header(...SNAPSHOTS)
      return presentOne(ctx, await service.getCurrent(ctx, path.id), query.include)
    },
  )

  mountChanges(app)
}

function mountChanges(app: App): void {
  const collection = '/api/v2/workspaces/:id/state-versions'
  const access = (ctx: Ctx, path: { id: string }) =>
    workspaces.get(ctx, { id: path.id }, 'state-versions:create')

  app.post(
    collection,
    {
      bodyLimit: MAX_INLINE_BYTES,
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: { doc: docs.create, access, largeBody: true },
    },
    async ({ ctx, path, body, headers }, reply) => {
      const isFromCli = headers['terraform-version'] !== undefined
      const created = await service.create(ctx, path.id, toNew(body.data, isFromCli))
      reply.header(...SNAPSHOTS)
      return reply.code(201).send(one(toNewResource(ctx, created)))
    },
  )

  app.patch(
    collection,
    {
      schema: { body: input(TYPE, Type.Object({}), Rollback) },
      config: { doc: docs.rollBack, access },
    },
    async ({ ctx, path, body }, reply) => {
      const target = body.data.relationships['rollback-state-version'].data.id
      return reply.code(201).send(one(toResource(ctx, await service.rollBack(ctx, path.id, target))))
    },
  )
}

type Input = Static<ReturnType<typeof input<typeof Attributes, typeof Relationships>>>['data']

function toNew({ attributes, relationships }: Input, isFromCli: boolean): NewStateVersion {
  const runId = relationships.run?.data?.id ?? null
  return { ...camelKeys(attributes), md5: attributes.md5.toLowerCase(), runId, isFromCli }
}

function required(
  query: Static<typeof List>,
  parameter: `filter[${'organization' | 'workspace'}][name]`,
): string {
  const value = query[parameter]
  if (value) return value
  throw new AppError('badRequest', `${parameter} is required.`, { parameter })
}

const STATUSES = ['pending', 'finalized', 'discarded'] as const

function toStatuses(parameter: string | string[] | undefined) {
  return valuesOf(parameter)?.map((given) => {
    const known = STATUSES.find((status) => status === given)
    if (known) return known
    throw new AppError('badRequest', `filter[status] must be one of ${STATUSES.join(', ')}.`, {
      parameter: 'filter[status]',
    })
  })
}
