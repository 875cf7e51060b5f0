import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { PathParams, Routes } from '../../http/routes.ts'
import { About, input, Nullable, OneOf, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Links, Moment, Shown } from '../../http/shown.ts'
import { secondPrecision } from '../../lib/time.ts'
import { Type } from '../../lib/type.ts'
import type { GpgKey } from './service.ts'
import * as service from './service.ts'

const TYPE = 'gpg-keys'

/** Links of this resource are relative to `/api/registry/private`. */
const SELF = '/v2/gpg-keys'

const Namespace = Text({ description: 'The organization that the key belongs to.', examples: ['acme'] })

const NewKey = Type.Object({
  namespace: Namespace,
  'ascii-armor': Text({
    maxLength: 65_536,
    description: 'The public key, in ASCII armor.',
    examples: ['-----BEGIN PGP PUBLIC KEY BLOCK-----\n…'],
  }),
})

const Move = Type.Object({ namespace: Namespace })

/** A body is not needed; one that is sent has to make sense. */
const Removal = Type.Object({
  data: Type.Optional(
    Type.Object({
      type: Type.Optional(OneOf(TYPE)),
      attributes: Type.Optional(
        Type.Object({ namespace: Type.Optional(Type.String({ description: 'Ignored.' })) }),
      ),
    }),
  ),
})

const Query = Type.Object({
  'filter[namespace]': Type.Optional(
    Type.Unsafe<string | string[]>({
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: 100,
      description: 'Names of organizations, separated by commas.',
    }),
  ),
})

const Key = Shown('GpgKey', TYPE, {
  id: '23',
  attributes: {
    ...NewKey.properties,
    'created-at': Moment('When it was registered.'),
    'updated-at': Moment('When it was last changed.'),
    'key-id': Type.String({
      description: 'The last 16 hexadecimal digits of its fingerprint.',
      examples: ['32966F3FB5AC1129'],
    }),
    source: Type.String({ description: 'Always empty here.' }),
    'source-url': About('Always null here.', Nullable(Type.String())),
    'trust-signature': Type.String({ description: 'Always empty here.' }),
    // Ours.
    'expires-at': Nullable(Moment('When it can no longer be used to sign; null for never.')),
  },
  links: Links('self'),
})

const doc = documents(
  'Signing keys',
  'The OpenPGP keys that the versions of private providers are signed with.',
  { forbidden: 'The registry is the public one.' },
)

const docs = {
  list: doc(
    'listGpgKeys',
    'List the signing keys of organizations',
    { 200: answerPage(Key) },
    {
      failures: {
        forbidden: 'The registry is the public one, or the caller is in none of the organizations.',
      },
    },
  ),
  create: doc('createGpgKey', 'Register a signing key', { 201: answerOne(Key) }),
  showById: doc('showGpgKeyById', 'Show a signing key by its id', { 200: answerOne(Key) }),
  show: doc('showGpgKey', 'Show a signing key', { 200: answerOne(Key) }),
  update: doc('updateGpgKey', 'Move a signing key to another organization', { 201: answerOne(Key) }),
  remove: doc('removeGpgKey', 'Remove a signing key, and answer with what it was', { 201: answerOne(Key) }),
}

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
    'expires-at': key.expiresAt && secondPrecision(key.expiresAt),
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

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const namespaces = [query['filter[namespace]'] ?? []]
        .flat()
        .flatMap((list) => list.split(','))
        .map((name) => name.trim())
        .filter((name) => name !== '')
      const keys = await service.list(ctx, path.registry_name, namespaces, page)
      return many(keys, SELF + new URL(href).search, toResource)
    },
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, NewKey) },
      config: {
        doc: docs.create,
        access: async (ctx, path) => service.requirePrivate(ctx, path.registry_name),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const { namespace, 'ascii-armor': asciiArmor } = body.data.attributes
      const created = await service.create(ctx, path.registry_name, { namespace, asciiArmor })
      return reply.code(201).send(one(toResource(created)))
    },
  )

  app.get(`${collection}/:id`, { config: { doc: docs.showById } }, async ({ ctx, path }) => {
    return one(toResource(await service.getById(ctx, path.registry_name, path.id)))
  })

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.get(ctx, addressOf(path)))),
  )

  // The contract answers a change and a deletion with 201, the deletion with what was deleted.
  app.patch(
    member,
    {
      schema: { body: input(TYPE, Move) },
      config: {
        doc: docs.update,
        access: (ctx, path) => service.get(ctx, addressOf(path), 'gpg-keys:manage'),
      },
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
      config: {
        doc: docs.remove,
        access: (ctx, path) => service.get(ctx, addressOf(path), 'gpg-keys:manage'),
      },
    },
    async ({ ctx, path }, reply) => {
      return reply.code(201).send(one(toResource(await service.remove(ctx, addressOf(path)))))
    },
  )
}
