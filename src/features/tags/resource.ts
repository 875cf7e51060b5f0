import type { Static } from 'typebox'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { Embedded, Text } from '../../http/schema.ts'
import { Moment, Related, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { NamedTag, Tag } from './service.ts'

/** Tags in a request, each by its id or its name. */
export const Tags = Embedded(
  'tags',
  Type.Object({
    name: Type.Optional(
      Text({
        pattern: '^[A-Za-z0-9:_-]+$',
        rule: 'letters, digits, colons, hyphens and underscores only',
        examples: ['team:network'],
      }),
    ),
  }),
)

export const ShownTag = Shown('Tag', 'tags', {
  id: 'tag-Hwj4mTFMBQEzdWXV',
  attributes: {
    name: Type.String({ examples: ['team:network'] }),
    'created-at': Moment('When it was first used.'),
    'instance-count': Type.Integer({ minimum: 0, description: 'How many workspaces have it.' }),
  },
  relationships: { organization: Related('organizations') },
})

export function toNamedTags({ data }: Static<typeof Tags>): NamedTag[] {
  return data.map(({ id, attributes: { name } }) => ({ id, name }))
}

export const toResource = (tag: Tag): Resource => ({
  id: tag.id,
  type: 'tags',
  attributes: {
    name: tag.name,
    'created-at': tag.createdAt,
    'instance-count': tag.instanceCount,
  },
  relationships: { organization: toOne('organizations', tag.organizationName) },
})
