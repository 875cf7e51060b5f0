import type { Ctx } from '../../context.ts'
import { all } from '../../http/jsonapi.ts'
import { documents, type Operation } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { answerAll, NOTHING } from '../../http/shown.ts'
import {
  ShownBinding,
  ShownEffectiveBinding,
  TagBindings,
  toBindings,
  toEffectiveResource,
  toResource,
} from './resource.ts'
import type { Owners } from './service.ts'
import * as service from './service.ts'

const doc = documents('Tag bindings', 'Keys and values that projects and workspaces are tagged with.')

/** `noun` is what the bindings are on. */
function docsOf(noun: 'Project' | 'Workspace') {
  const on = `of a ${noun.toLowerCase()}`
  const answers = { 200: answerAll(ShownBinding) }
  return {
    list: doc(`list${noun}TagBindings`, `List the tag bindings ${on}`, answers),
    listRelated: doc(`list${noun}TagBindingsRelationship`, `List the tag bindings ${on}`, answers),
    listEffective: doc(`list${noun}EffectiveTagBindings`, `List the tag bindings ${on}, inherited ones too`, {
      200: answerAll(ShownEffectiveBinding),
    }),
    add: doc(`add${noun}TagBindings`, `Add or change tag bindings ${on}`, answers),
    addRelated: doc(`add${noun}TagBindingsRelationship`, `Add or change tag bindings ${on}`, {
      204: NOTHING,
    }),
    replace: doc(`replace${noun}TagBindings`, `Replace all tag bindings ${on}`, { 204: NOTHING }),
  }
}

/** The bindings of everything that `owners` finds. None of these lists has pages. */
export function routesOf(owners: Owners): Routes {
  return (app) => {
    const bindings = `/api/v2/${owners.kind}/:id/tag-bindings`
    const relationship = `/api/v2/${owners.kind}/:id/relationships/tag-bindings`
    const docs = docsOf(owners.kind === 'projects' ? 'Project' : 'Workspace')
    const write = (doc: Operation) => ({
      schema: { body: TagBindings },
      config: { doc, access: (ctx: Ctx, path: PathParams) => owners.getManaged(ctx, path.id) },
    })

    for (const [address, doc] of [
      [bindings, docs.list],
      [relationship, docs.listRelated],
    ] as const) {
      app.get(address, { config: { doc } }, async ({ ctx, path }) =>
        all(await service.list(ctx, owners, path.id), toResource),
      )
    }

    app.get(
      `/api/v2/${owners.kind}/:id/effective-tag-bindings`,
      { config: { doc: docs.listEffective } },
      async ({ ctx, path }) => {
        return all(await service.listEffective(ctx, owners, path.id), toEffectiveResource)
      },
    )

    app.patch(bindings, write(docs.add), async ({ ctx, path, body }) => {
      return all(await service.add(ctx, owners, path.id, toBindings(body)), toResource)
    })

    app.post(relationship, write(docs.addRelated), async ({ ctx, path, body }, reply) => {
      await service.add(ctx, owners, path.id, toBindings(body))
      return reply.code(204).send()
    })

    app.patch(relationship, write(docs.replace), async ({ ctx, path, body }, reply) => {
      await service.replace(ctx, owners, path.id, toBindings(body))
      return reply.code(204).send()
    })
  }
}
