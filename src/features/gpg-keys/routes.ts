import { Type } from 'typebox'
import { many, one, type Resource } from '../../http/jsonapi.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { input, OneOf, Text } from '../../http/schema.ts'
import { secondPrecision } from '../../lib/time.ts'
import type { GpgKey } from './service.ts'
import * as service from './service.ts'

const TYPE = 'gpg-keys'

/** Links of this resource are relative to `/api/registry/private`. */
const SELF = '/v2/gpg-keys'

const NewKey = Type.Object({
  namespace: Text(),
  'ascii-armor': Text({ maxLength: 65_536 }),
})

const Move = Type.Object({ namespace: Text() })

/** A body is not needed; one that is sent has to make sense. */
const Removal = Type.Object({
  data: Type.Optional(
    Type.Object({
      type: Type.Optional(OneOf(TYPE)),
      attributes: Type.Optional(Type.Object({ namespace: Type.Optional(Type.String()) })),
    }),
  ),
})

const Query = Type.Object({
  'filter[namespace]': Type.Optional(
    Type.Unsafe<string | string[]>({ type: ['string', 'array'], items: { type: 'string' }, maxItems: 100 }),
  ),
})

const toResource = (key: GpgKey): Resource => ({
  id: key.id,
  type: TYPE,
  attributes: {
    'ascii-armor': key.asciiArmor,
    'created-at': secondPrecision(key.createdAt),
    'updated-at': secondPrecision(key.updatedAt),
    'key-id': key.keyId,
    namespace: key.namespace,
    source: '',
    'source-url': null,
    'trust-signature': '',
  },
  links: { self: `${SELF}/${key.id}` },
})

const addressOf = ({ registry_name, namespace, key_id }: PathParams) => ({
  registryName: registry_name,
  namespace,
  keyId: key_id,
})

export const routes: Routes = (app) => {
  const collection = '/api/registry/:registry_name/v2/gpg-keys'
  const member = `${collection}/:namespace/:key_id`

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, path, query, page, href }) => {
    const namespaces = [query['filter[namespace]'] ?? []]
      .flat()
      .flatMap((list) => list.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '')
    const keys = await service.list(ctx, path.registry_name, namespaces, page)
    return many(keys, SELF + new URL(href).search, toResource)
  })

  app.post(
    collection,
    {
      schema: { body: input(TYPE, NewKey) },
      config: { access: async (ctx, path) => service.requirePrivate(ctx, path.registry_name) },
    },
    async ({ ctx, path, body }, reply) => {
      const { namespace, 'ascii-armor': asciiArmor } = body.data.attributes
      const created = await service.create(ctx, path.registry_name, { namespace, asciiArmor })
      return reply.code(201).send(one(toResource(created)))
    },
  )

  app.get(`${collection}/:id`, async ({ ctx, path }) => {
    return one(toResource(await service.getById(ctx, path.registry_name, path.id)))
  })

  app.get(member, async ({ ctx, path }) => one(toResource(await service.get(ctx, addressOf(path)))))

  // The contract answers a change and a deletion with 201, the deletion with what was deleted.
  app.patch(
    member,
    {
      schema: { body: input(TYPE, Move) },
      config: { access: (ctx, path) => service.get(ctx, addressOf(path), 'gpg-keys:manage') },
    },
    async ({ ctx, path, body }, reply) => {
      const changed = await service.update(ctx, addressOf(path), body.data.attributes.namespace)
      return reply.code(201).send(one(toResource(changed)))
    },
  )

  app.delete(
    member,
    {
      schema: { body: Removal },
      config: { access: (ctx, path) => service.get(ctx, addressOf(path), 'gpg-keys:manage') },
    },
    async ({ ctx, path }, reply) => {
      return reply.code(201).send(one(toResource(await service.remove(ctx, addressOf(path)))))
    },
  )
}
