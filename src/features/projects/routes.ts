import type { Ctx } from '../../context.ts'
import { includable, include } from '../../http/includes.ts'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, Changes, Include, input, Search, Values, valuesOf } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { sideload, TAG_FILTERS, toTagFilters } from '../tag-bindings/resource.ts'
import { Attributes, Relationships, ShownProject, TYPE, toChanges, toResource } from './resource.ts'
import type { Project } from './service.ts'
import * as service from './service.ts'

const INCLUDES = ['effective-tag-bindings', 'organization']

const Query = Type.Object({
  'filter[names]': Type.Optional(About('Only projects with one of these names.', Values)),
  include: Include(INCLUDES),
  ...TAG_FILTERS,
  q: Search('Only projects whose name contains this text.'),
  sort: Type.Optional(Type.String({ description: '`name`, or `-name` for the reverse.' })),
})

const Show = Type.Object({ include: Include(INCLUDES) })

const doc = documents('Projects', 'Groups of workspaces within an organization.')

const docs = {
  list: doc('listProjects', 'List the projects of an organization', {
    200: answerPage(ShownProject, INCLUDES),
  }),
  create: doc('createProject', 'Make a project', { 201: answerOne(ShownProject) }),
  show: doc('showProject', 'Show a project', { 200: answerOne(ShownProject, INCLUDES) }),
  update: doc('updateProject', 'Change a project', { 200: answerOne(ShownProject) }),
  remove: doc(
    'removeProject',
    'Remove a project without workspaces',
    { 204: NOTHING },
    { failures: { forbidden: 'It is the default project, or it has workspaces.' } },
  ),
}

/** The resources of a document about `projects`, and what `wanted` includes. */
async function present(ctx: Ctx, projects: readonly Project[], wanted: string | undefined) {
  const { bindings, included } = await sideload(ctx, wanted, projects.map(service.ownerOf))
  const resources = await Promise.all(projects.map((each) => toResource(ctx, each, bindings.get(each.id))))
  const others = await include(ctx, wanted, INCLUDES, resources)
  return { resources, included: others && [...others, ...included] }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/projects'
  const member = '/api/v2/projects/:id'

  includable(TYPE, async (ctx, ids) => {
    const projects = await service.listVisible(ctx, ids)
    return Promise.all(projects.map((each) => toResource(ctx, each)))
  })

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = {
        names: valuesOf(query['filter[names]']),
        q: query.q,
        tagged: toTagFilters(query),
        descending: query.sort === '-name',
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
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'projects:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { name } = body.data.attributes
      const created = await service.create(ctx, path.organization_name, { ...toChanges(body.data), name })
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(
    member,
    { schema: { querystring: Show }, config: { doc: docs.show } },
    async ({ ctx, path, query }) => {
      const { resources, included } = await present(ctx, [await service.get(ctx, path.id)], query.include)
      return one(resources[0] as Resource, included)
    },
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes), Relationships) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, path.id, 'projects:manage') },
    },
    async ({ ctx, path, body }) => {
      return one(await toResource(ctx, await service.update(ctx, path.id, toChanges(body.data))))
    },
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
