import { Type } from 'typebox'
import type { Ctx } from '../../context.ts'
import { many } from '../../http/jsonapi.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { ToMany } from '../../http/schema.ts'
import * as organizations from '../organizations/service.ts'
import { Tags, toNamedTags, toResource } from './resource.ts'
import * as service from './service.ts'

const Query = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  'filter[exclude][taggable][id]': Type.Optional(Type.String({ maxLength: 255 })),
})

export const routes: Routes = (app) => {
  const ofOrganization = '/api/v2/organizations/:organization_name/tags'
  const ofWorkspace = '/api/v2/workspaces/:id/relationships/tags'

  app.get(ofOrganization, { schema: { querystring: Query } }, async ({ ctx, path, query, page, href }) => {
    const filter = { q: query.q, excludedWorkspaceId: query['filter[exclude][taggable][id]'] }
    return many(await service.list(ctx, path.organization_name, filter, page), href, toResource)
  })

  app.delete(
    ofOrganization,
    {
      schema: { body: ToMany('tags') },
      config: { access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'tags:manage') },
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
      config: { access: (ctx, path) => service.getManaged(ctx, path.id) },
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

  app.get(ofWorkspace, async ({ ctx, path, page, href }) => {
    return many(await service.listOfWorkspace(ctx, path.id, page), href, toResource)
  })

  const write = {
    schema: { body: Tags },
    config: {
      access: (ctx: Ctx, path: PathParams) => service.getWorkspace(ctx, path.id, 'workspaces:manage'),
    },
  }

  app.post(ofWorkspace, write, async ({ ctx, path, body }, reply) => {
    await service.addToWorkspace(ctx, path.id, toNamedTags(body))
    return reply.code(204).send()
  })

  app.delete(ofWorkspace, write, async ({ ctx, path, body }, reply) => {
    await service.removeFromWorkspace(ctx, path.id, toNamedTags(body))
    return reply.code(204).send()
  })
}
