import { type Static, Type } from 'typebox'
import type { Ctx } from '../../context.ts'
import { wants } from '../../http/includes.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { listIn } from '../../http/query.ts'
import { Embedded, Nullable, Text } from '../../http/schema.ts'
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
    }),
    value: Type.Optional(Nullable(Type.String({ maxLength: 256 }))),
  }),
)

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
