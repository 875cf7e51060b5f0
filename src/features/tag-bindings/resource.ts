import type { Static } from 'typebox'
import type { Ctx } from '../../context.ts'
import { wants } from '../../http/includes.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { listIn } from '../../http/query.ts'
import { About, Embedded, Nullable, Text, Values } from '../../http/schema.ts'
import { Exactly, Links, Moment, Related, RelatedAddress, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { Binding, EffectiveTagBinding, Owner, OwnerKind, TagBinding, TagFilter } from './service.ts'
import * as service from './service.ts'

const TYPE = 'tag-bindings'

/** Bindings in a request: the body of their own endpoints, and a relationship of what they are on. */
export const TagBindings = Embedded(
  TYPE,
  Type.Object({
    key: Text({
      maxLength: 128,
      pattern: '^(?!\\s*$)(?!hcp?:)[A-Za-z0-9 .=+@:_-]+$',
      rule: 'letters, digits, spaces and _ . = + - @ : only, not beginning with hc: or hcp:',
      examples: ['environment'],
    }),
    value: Type.Optional(
      Nullable(Type.String({ maxLength: 256, description: 'Empty for none.', examples: ['production'] })),
    ),
  }),
)

const Key = Type.String({ examples: ['environment'] })
const Value = Type.String({ description: 'Empty for none.', examples: ['production'] })

export const ShownBinding = Shown('TagBinding', TYPE, {
  id: 'tb-K7VjYq9sUp1mC4dN',
  attributes: { key: Key, value: Value, 'created-at': Moment('When it was made.') },
  links: Links('target'),
})

export const ShownEffectiveBinding = Exactly(
  {
    ...Shown('', 'effective-tag-bindings', {
      id: 'tb-K7VjYq9sUp1mC4dN',
      attributes: { key: Key, value: Value },
    }).properties,
    relationships: Type.Optional(Exactly({ 'inherited-from': Related('projects') })),
    links: Type.Optional(Links('inherited-from')),
  },
  { title: 'EffectiveTagBinding' },
)

/** The relationships of what bindings are on, as `toRelationships` makes them. */
export const ShownRelationships = {
  'tag-bindings': RelatedAddress,
  'effective-tag-bindings': Exactly({
    data: Type.Optional(
      Type.Array(Exactly({ id: Type.String(), type: Type.Literal('effective-tag-bindings') })),
    ),
    links: Links('related'),
  }),
}

/** The parameters that `toTagFilters` reads. */
export const TAG_FILTERS = {
  'filter[tagged][0][key]': Type.Optional(
    About('Only what has a binding with this key; further ones by the numbers 1, 2, ….', Values),
  ),
  'filter[tagged][0][value]': Type.Optional(About('And with this value; empty for any.', Values)),
}

export function toBindings({ data }: Static<typeof TagBindings>): Binding[] {
  return data.map(({ attributes: { key, value } }) => ({ key, value: value ?? '' }))
}

export function toResource({ id, projectId, workspaceId, key, value, createdAt }: TagBinding): Resource {
  return {
    id,
    type: TYPE,
    attributes: { key, value, 'created-at': createdAt },
    links: { target: projectId ? `/api/v2/projects/${projectId}` : `/api/v2/workspaces/${workspaceId}` },
  }
}

/** Only what is inherited has links: clients take their presence for the sign of it. */
export function toEffectiveResource({ id, key, value, inheritedFrom }: EffectiveTagBinding): Resource {
  return {
    id,
    type: 'effective-tag-bindings',
    attributes: { key, value },
    ...(inheritedFrom && {
      relationships: { 'inherited-from': toOne('projects', inheritedFrom) },
      links: { 'inherited-from': `/api/v2/projects/${inheritedFrom}` },
    }),
  }
}

/** The relationships of what bindings are on; `effective` when they are to be included. */
export function toRelationships(kind: OwnerKind, id: string, effective?: readonly EffectiveTagBinding[]) {
  const self = `/api/v2/${kind}/${id}`
  return {
    'tag-bindings': { links: { related: `${self}/tag-bindings` } },
    'effective-tag-bindings': {
      ...(effective && {
        data: effective.map((binding) => ({ id: binding.id, type: 'effective-tag-bindings' })),
      }),
      links: { related: `${self}/effective-tag-bindings` },
    },
  }
}

/** What `include=effective_tag_bindings` brings along: the bindings by owner, and each of them once. */
export async function sideload(ctx: Ctx, include: string | undefined, owners: readonly Owner[]) {
  if (!wants(include, 'effective-tag-bindings')) return { bindings: new Map(), included: [] }
  const bindings = await service.listEffectiveOfMany(ctx, owners)
  const unique = new Map([...bindings.values()].flat().map((binding) => [binding.id, binding]))
  return { bindings, included: [...unique.values()].map(toEffectiveResource) }
}

/** The bindings that `filter[tagged][i][key]` and `[value]` ask for; an empty value stands for any. */
export function toTagFilters(query: unknown): TagFilter[] {
  return listIn(query, 'filter[tagged]').flatMap(({ key, value }) =>
    key ? [{ key, value: value || undefined }] : [],
  )
}
