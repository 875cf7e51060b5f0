import type { Ctx } from '../../context.ts'
import { all } from '../../http/jsonapi.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { TagBindings, toBindings, toEffectiveResource, toResource } from './resource.ts'
import type { Owners } from './service.ts'
import * as service from './service.ts'

/** The bindings of everything that `owners` finds. None of these lists has pages. */
export function routesOf(owners: Owners): Routes {
  return (app) => {
    const bindings = `/api/v2/${owners.kind}/:id/tag-bindings`
    const relationship = `/api/v2/${owners.kind}/:id/relationships/tag-bindings`
    const write = {
      schema: { body: TagBindings },
      config: { access: (ctx: Ctx, path: PathParams) => owners.getManaged(ctx, path.id) },
    }

    for (const address of [bindings, relationship]) {
      app.get(address, async ({ ctx, path }) => all(await service.list(ctx, owners, path.id), toResource))
    }

    app.get(`/api/v2/${owners.kind}/:id/effective-tag-bindings`, async ({ ctx, path }) => {
      return all(await service.listEffective(ctx, owners, path.id), toEffectiveResource)
    })

    app.patch(bindings, write, async ({ ctx, path, body }) => {
      return all(await service.add(ctx, owners, path.id, toBindings(body)), toResource)
    })

    app.post(relationship, write, async ({ ctx, path, body }, reply) => {
      await service.add(ctx, owners, path.id, toBindings(body))
      return reply.code(204).send()
    })

    app.patch(relationship, write, async ({ ctx, path, body }, reply) => {
      await service.replace(ctx, owners, path.id, toBindings(body))
      return reply.code(204).send()
    })
  }
}
