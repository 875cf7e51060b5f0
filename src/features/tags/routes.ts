import type { Ctx } from '../../context.ts'
import { many } from '../../http/jsonapi.ts'
import { documents, type Operation } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { Search, ToMany } from '../../http/schema.ts'
import { answerPage, NOTHING } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { ShownTag, Tags, toNamedTags, toResource } from './resource.ts'
import * as service from './service.ts'

const Query = Type.Object({
  q: Search('Only tags whose name contains this text.'),
  'filter[exclude][taggable][id]': Type.Optional(
    Type.String({ maxLength: 255, description: 'Only tags that the workspace of this id does not have.' }),
  ),
})

const doc = documents('Tags', 'Names that the workspaces of an organization are tagged with.')

const GONE = { failures: { conflict: 'A workspace or a tag was removed at the same moment.' } }

const docs = {
  list: doc('listTags', 'List the tags of an organization', { 200: answerPage(ShownTag) }),
  remove: doc('removeTags', 'Remove tags from an organization and all of its workspaces', { 204: NOTHING }),
  addWorkspaces: doc('addWorkspacesToTag', 'Tag workspaces', { 204: NOTHING }, GONE),
  listOfWorkspace: doc('listWorkspaceTags', 'List the tags of a workspace', { 200: answerPage(ShownTag) }),
  add: doc('addWorkspaceTags', 'Add tags to a workspace', { 204: NOTHING }, GONE),
  removeFrom: doc('removeWorkspaceTags', 'Remove tags from a workspace', { 204: NOTHING }),
}

export const routes: Routes = (app) => {
  const ofOrganization = '/api/v2/organizations/:organization_name/tags'
  const ofWorkspace = '/api/v2/workspaces/:id/relationships/tags'

  app.get(
    ofOrganization,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { q: query.q, excludedWorkspaceId: query['filter[exclude][taggable][id]'] }
      return many(await service.list(ctx, path.organization_name, filter, page), href, toResource)
    },
  )

  app.delete(
    ofOrganization,
    {
      schema: { body: ToMany('tags') },
      config: {
        doc: docs.remove,
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'tags:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      await service.remove(
        ctx,
        path.organization_name,
        body.data.map((tag) => tag.id),
      )
      return reply.code(204).send()
    },
  )

  app.post(
    '/api/v2/tags/:id/relationships/workspaces',
    {
      schema: { body: ToMany('workspaces') },
      config: { doc: docs.addWorkspaces, access: (ctx, path) => service.getManaged(ctx, path.id) },
    },
    async ({ ctx, path, body }, reply) => {
      await service.addWorkspaces(
        ctx,
        path.id,
        body.data.map((workspace) => workspace.id),
      )
      return reply.code(204).send()
    },
  )

  app.get(ofWorkspace, { config: { doc: docs.listOfWorkspace } }, async ({ ctx, path, page, href }) => {
    return many(await service.listOfWorkspace(ctx, path.id, page), href, toResource)
  })

  const write = (doc: Operation) => ({
    schema: { body: Tags },
    config: {
      doc,
      access: (ctx: Ctx, path: PathParams) => service.getWorkspace(ctx, path.id, 'workspaces:manage'),
    },
  })

  app.post(ofWorkspace, write(docs.add), async ({ ctx, path, body }, reply) => {
    await service.addToWorkspace(ctx, path.id, toNamedTags(body))
    return reply.code(204).send()
  })

  app.delete(ofWorkspace, write(docs.removeFrom), async ({ ctx, path, body }, reply) => {
    await service.removeFromWorkspace(ctx, path.id, toNamedTags(body))
    return reply.code(204).send()
  })
}
