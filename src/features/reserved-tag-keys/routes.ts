import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { input, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Moment, NOTHING, Shown } from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import type { ReservedTagKey } from './service.ts'
import * as service from './service.ts'

const TYPE = 'reserved-tag-keys'

const Attributes = Type.Object({
  key: Text({
    maxLength: 128,
    pattern: '^(?!\\s*$)(?!hcp?:)[A-Za-z0-9 .=+@:_-]+$',
    rule: 'letters, digits, spaces and . = + - @ : _ only, not beginning with hc: or hcp:',
    description: 'The reserved key. No two keys of an organization are the same.',
    examples: ['environment'],
  }),
  'disable-overrides': Type.Boolean({
    description: 'Whether workspaces have to keep the value that their project gives this key.',
  }),
})

const Key = Shown('ReservedTagKey', TYPE, {
  id: 'rtk-jjTe6ZGHsRqZTQfL',
  attributes: {
    ...Attributes.properties,
    'created-at': Moment('When it was reserved.'),
    'updated-at': Moment('When it was last changed.'),
  },
})

const doc = documents('Reserved tag keys', 'Tag keys whose use an organization rules over.')

const docs = {
  list: doc('listReservedTagKeys', 'List the reserved tag keys of an organization', { 200: answerPage(Key) }),
  create: doc('createReservedTagKey', 'Reserve a tag key', { 201: answerOne(Key) }),
}

const memberDocs = (name: string) => ({
  update: doc(`update${name}`, 'Change a reserved tag key', { 200: answerOne(Key) }),
  remove: doc(`remove${name}`, 'Release a reserved tag key', { 204: NOTHING }),
})

/** The documentation says reserved-tags, the Go client says reserved-tag-keys: both are the same resource. */
const MEMBERS = [
  { member: '/api/v2/reserved-tags/:id', docs: memberDocs('ReservedTag') },
  { member: '/api/v2/reserved-tag-keys/:id', docs: memberDocs('ReservedTagKey') },
]

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

  app.get(
    collection,
    {
      config: {
        doc: docs.list,
      },
    },
    async ({ ctx, path, page, href }) => {
      return many(await service.list(ctx, path.organization_name, page), href, toResource)
    },
  )

  app.post(
    collection,
    {
      schema: { body },
      config: {
        doc: docs.create,
        access: (ctx, path) =>
          organizations.getByName(ctx, path.organization_name, 'reserved-tag-keys:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, camelKeys(body.data.attributes))
      return reply.code(201).send(one(toResource(created)))
    },
  )

  for (const { member, docs } of MEMBERS) {
    app.patch(
      member,
      {
        schema: { body },
        config: {
          doc: docs.update,
          access: (ctx, path) => service.getManaged(ctx, path.id),
        },
      },
      async ({ ctx, path, body }) => {
        return one(toResource(await service.update(ctx, path.id, camelKeys(body.data.attributes))))
      },
    )

    app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
      await service.remove(ctx, path.id)
      return reply.code(204).send()
    })
  }
}
