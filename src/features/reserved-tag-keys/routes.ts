import { Type } from 'typebox'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { input, Text } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import * as organizations from '../organizations/service.ts'
import type { ReservedTagKey } from './service.ts'
import * as service from './service.ts'

const TYPE = 'reserved-tag-keys'

const Attributes = Type.Object({
  key: Text({
    maxLength: 128,
    pattern: '^(?!\\s*$)(?!hcp?:)[A-Za-z0-9 .=+@:_-]+$',
    rule: 'letters, digits, spaces and . = + - @ : _ only, not beginning with hc: or hcp:',
  }),
  'disable-overrides': Type.Boolean(),
})

const toResource = (key: ReservedTagKey): Resource => ({
  id: key.id,
  type: TYPE,
  attributes: {
    key: key.key,
    'disable-overrides': key.disableOverrides,
    'created-at': key.createdAt,
    'updated-at': key.updatedAt,
  },
})

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/reserved-tag-keys'
  const body = input(TYPE, Attributes)

  app.get(collection, async ({ ctx, path, page, href }) => {
    return many(await service.list(ctx, path.organization_name, page), href, toResource)
  })

  app.post(
    collection,
    {
      schema: { body },
      config: {
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'reserved-tag-keys:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toResource(created)))
    },
  )

  // The documentation says reserved-tags, the Go client says reserved-tag-keys: both are the same resource.
  for (const member of ['/api/v2/reserved-tags/:id', '/api/v2/reserved-tag-keys/:id']) {
    app.patch(
      member,
      { schema: { body }, config: { access: (ctx, path) => service.getManaged(ctx, path.id) } },
      async ({ ctx, path, body }) => {
        return one(toResource(await service.update(ctx, path.id, camelKeys(body.data.attributes))))
      },
    )

    app.delete(member, async ({ ctx, path }, reply) => {
      await service.remove(ctx, path.id)
      return reply.code(204).send()
    })
  }
}
