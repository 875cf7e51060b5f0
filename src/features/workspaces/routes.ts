import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, PathParams, Routes } from '../../http/routes.ts'
import { About, Changes, Include, input, Search, ToMany, Values, valuesOf } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import * as projects from '../projects/service.ts'
import { sideload, TAG_FILTERS, toTagFilters } from '../tag-bindings/resource.ts'
import { toAttributes, toResource } from './resource.ts'
import { Attributes, Relationships, ShownWorkspace, TYPE } from './schema.ts'
import type { Workspace, WorkspaceRef } from './service.ts'
import * as service from './service.ts'

/** Everything the public API includes; what a workspace does not have brings nothing along. */
const INCLUDES = [
  'agent-pool',
  'current-assessment-result',
  'current-configuration-version',
  'current-configuration-version.ingress-attributes',
  'current-run',
  'current-run.apply',
  'current-run.configuration-version',
  'current-run.configuration-version.ingress-attributes',
  'current-run.plan',
  'current-state-version',
  'effective-tag-bindings',
  'latest-run',
  'latest-run.configuration-version',
  'latest-run.plan',
  'locked-by',
  'organization',
  'outputs',
  'project',
  'readme',
  'vars',
]

const Show = Type.Object({ include: Include(INCLUDES) })

const List = Type.Object({
  ...Show.properties,
  ...TAG_FILTERS,
  'search[name]': Search('Only workspaces whose name contains this text.'),
  'search[wildcard-name]': Search('Only workspaces whose name matches, with * for any text.'),
  'search[tags]': Type.Optional(About('Only workspaces that have all of these tags.', Values)),
  'search[exclude-tags]': Type.Optional(About('Only workspaces that have none of these tags.', Values)),
  'filter[project][id]': Type.Optional(
    Type.String({ maxLength: 255, description: 'Only workspaces of the project of this id.' }),
  ),
  sort: Type.Optional(
    Type.String({ maxLength: 255, description: '`name` or `latest-change-at`, with - for the reverse.' }),
  ),
})

const doc = documents('Workspaces', 'What has a configuration, a state and runs.')

const docs = {
  list: doc('listWorkspaces', 'List the workspaces of an organization', {
    200: answerPage(ShownWorkspace, INCLUDES),
  }),
  create: doc('createWorkspace', 'Make a workspace', { 201: answerOne(ShownWorkspace) }),
  move: doc('moveWorkspaces', 'Move workspaces into a project', { 204: NOTHING }),
}

/** A workspace is named by its id, or by its organization and its name. */
const memberDocs = (suffix: string, by: string) => ({
  show: doc(`showWorkspace${suffix}`, `Show a workspace by ${by}`, {
    200: answerOne(ShownWorkspace, INCLUDES),
  }),
  update: doc(`updateWorkspace${suffix}`, `Change a workspace by ${by}`, { 200: answerOne(ShownWorkspace) }),
  remove: doc(`removeWorkspace${suffix}`, `Remove a workspace by ${by}`, { 204: NOTHING }),
  removeSafely: doc(
    `removeWorkspace${suffix}Safely`,
    `Remove a workspace by ${by}, unless it is locked or manages resources`,
    { 204: NOTHING },
    { failures: { conflict: 'It is locked, or it still manages resources.' } },
  ),
})

const SORTS = {
  name: { column: 'name', descending: false },
  '-name': { column: 'name', descending: true },
  'latest-change-at': { column: 'updatedAt', descending: false },
  '-latest-change-at': { column: 'updatedAt', descending: true },
} as const

/** The resources of a document about `workspaces`, and what `wanted` includes. */
async function present(ctx: Ctx, workspaces: readonly Workspace[], wanted: string | undefined) {
  const { bindings, included } = await sideload(ctx, wanted, workspaces.map(service.ownerOf))
  const resources = await Promise.all(workspaces.map((each) => toResource(ctx, each, bindings.get(each.id))))
  const others = await include(ctx, wanted, INCLUDES, resources)
  return { resources, included: others && [...others, ...included] }
}

function refOf({ id, organization_name: organizationName, name }: PathParams): WorkspaceRef {
  return id === undefined ? { organizationName, name } : { id }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/workspaces'

  includable(TYPE, async (ctx, ids) => {
    const workspaces = await service.listVisible(ctx, ids)
    return Promise.all(workspaces.map((each) => toResource(ctx, each)))
  })

  app.get(
    collection,
    { schema: { querystring: List }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = {
        name: query['search[name]'],
        wildcardName: query['search[wildcard-name]'],
        projectId: query['filter[project][id]'],
        tags: valuesOf(query['search[tags]']),
        excludedTags: valuesOf(query['search[exclude-tags]']),
        tagged: toTagFilters(query),
        sort: SORTS[query.sort as keyof typeof SORTS] ?? SORTS.name,
      }
      const found = await service.list(ctx, path.organization_name, filter, page)
      const { resources, included } = await present(ctx, found.items, query.include)
      return many({ ...found, items: resources }, href, (resource) => resource, included)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes, Relationships) },
      config: {
        doc: docs.create,
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'workspaces:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { settings, ...others } = toAttributes(body.data)
      const attributes = { ...others, settings: { ...settings, name: body.data.attributes.name } }
      const created = await service.create(ctx, path.organization_name, attributes)
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.post(
    '/api/v2/projects/:id/relationships/workspaces',
    {
      schema: { body: ToMany(TYPE) },
      config: { doc: docs.move, access: (ctx, path) => projects.get(ctx, path.id, 'workspaces:manage') },
    },
    async ({ ctx, path, body }, reply) => {
      await service.move(
        ctx,
        path.id,
        body.data.map((workspace) => workspace.id),
      )
      return reply.code(204).send()
    },
  )

  mountMember(app, '/api/v2/workspaces/:id', memberDocs('', 'its id'))
  mountMember(app, `${collection}/:name`, memberDocs('ByName', 'its name'))
}

function mountMember(app: App, member: string, docs: ReturnType<typeof memberDocs>): void {
  app.get(
    member,
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const { resources, included } = await present(ctx, [await service.get(ctx, refOf(path))], query.include)
      return one(resources[0] as Resource, included)
    },
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes), Relationships) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, refOf(path), 'workspaces:manage') },
    },
    async ({ ctx, path, body }) => {
      return one(await toResource(ctx, await service.update(ctx, refOf(path), toAttributes(body.data))))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, refOf(path))
    return reply.code(204).send()
  })

  app.post(
    `${member}/actions/safe-delete`,
    { config: { doc: docs.removeSafely } },
    async ({ ctx, path }, reply) => {
      await service.removeSafely(ctx, refOf(path))
      return reply.code(204).send()
    },
  )
}
