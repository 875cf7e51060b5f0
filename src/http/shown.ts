import type { TProperties, TSchema } from 'typebox'
import { Type } from '../lib/type.ts'
import { MEDIA_TYPE } from './jsonapi.ts'
import type { Answer } from './operation.ts'
import { OneOf } from './schema.ts'

// Schemas of what is sent. The tests hold every answer of the server against them; the server itself does not.

/** Exactly these properties. A schema with a title is described once and referred to by it. */
export function Exactly<T extends TProperties>(properties: T, options: { title?: string } = {}) {
  return Type.Object(properties, { ...options, additionalProperties: false })
}

/** A time. */
export function Moment(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-11-21T09:30:00.000Z'] })
}

/** `links` of a resource, each a path or an address. */
export function Links(...names: string[]) {
  return Exactly(Object.fromEntries(names.map((name) => [name, Type.String()])))
}

interface Parts {
  id: string
  attributes?: TProperties
  relationships?: TProperties
  links?: TSchema
}

/** A resource as it is sent; `id` is an example. */
export function Shown(title: string, type: string, { id, attributes, relationships, links }: Parts) {
  return Exactly(
    {
      id: Type.String({ examples: [id] }),
      type: OneOf(type),
      ...(attributes && { attributes: Exactly(attributes) }),
      ...(relationships && { relationships: Exactly(relationships) }),
      ...(links && { links }),
    },
    { title },
  )
}

const RelatedLinks = Type.Optional(Links('related'))

function Reference(types: readonly string[]) {
  return Exactly({ id: Type.String(), type: OneOf(...types) })
}

/** A relationship to one resource of these types. */
export function Related(...types: string[]) {
  return Exactly({ data: Reference(types), links: RelatedLinks })
}

/** A relationship to one resource, or to none. */
export function RelatedOrNone(...types: string[]) {
  return Exactly({ data: Type.Union([Reference(types), Type.Null()]), links: RelatedLinks })
}

/** A relationship to many resources. */
export function RelatedMany(type: string) {
  return Exactly({ data: Type.Array(Reference([type])), links: RelatedLinks })
}

/** A relationship of which only the address is told. */
export const RelatedAddress = Exactly({ links: Links('related') })

/** What the caller may do with a resource. */
export function Permissions(names: readonly string[]) {
  return Exactly(Object.fromEntries(names.map((name) => [name, Type.Boolean()])))
}

const Any = Type.Object(
  { id: Type.String(), type: Type.String() },
  { title: 'AnyResource', description: 'A resource of any type.' },
)

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const PageNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description })

const Pagination = Exactly(
  {
    'current-page': Type.Integer({ minimum: 1, description: 'Counted from 1.' }),
    'page-size': Type.Integer({ minimum: 1, maximum: 100, description: 'Items on a full page.' }),
    'prev-page': PageNumber('Null on the first page.'),
    'next-page': PageNumber('Null on the last page.'),
    'total-pages': Count('Pages in all.'),
    'total-count': Count('Items in all.'),
  },
  { title: 'Pagination' },
)

const PageAddress = Type.Unsafe<string | null>({ type: ['string', 'null'] })

const PageLinks = Exactly(
  { self: PageAddress, first: PageAddress, prev: PageAddress, next: PageAddress, last: PageAddress },
  { title: 'PageLinks' },
)

function Included(names: readonly string[] | undefined) {
  const description = `What \`include\` asked for: ${names?.join(', ')}.`
  return names && { included: Type.Optional(Type.Array(Any, { description })) }
}

/** A document with one resource, and what may be included with it. */
export function answerOne(resource: TSchema, includes?: readonly string[]): Answer {
  return {
    description: 'The resource.',
    schema: Exactly({ data: resource, ...Included(includes) }),
    mediaType: MEDIA_TYPE,
  }
}

/** A document with one page of a list; `more` is what its `meta` says besides. */
export function answerPage(resource: TSchema, includes?: readonly string[], more: TProperties = {}): Answer {
  const meta = Exactly({ pagination: Pagination, ...more })
  return {
    description: 'One page of the list.',
    schema: Exactly({ data: Type.Array(resource), ...Included(includes), links: PageLinks, meta }),
    mediaType: MEDIA_TYPE,
    paginated: true,
  }
}

/** A document with a list that has no pages. */
export function answerAll(resource: TSchema, includes?: readonly string[]): Answer {
  return {
    description: 'The whole list.',
    schema: Exactly({ data: Type.Array(resource), ...Included(includes) }),
    mediaType: MEDIA_TYPE,
  }
}

/** A document that is not JSON:API's, as other protocols want it. */
export function answerPlain(description: string, schema: TSchema, mediaType = 'application/json'): Answer {
  return { description, schema, mediaType }
}

/** Text or bytes. */
export function answerFile(description: string, mediaType: string): Answer {
  return { description, schema: Type.String(), mediaType }
}

/** It is done; there is nothing to say. */
export const NOTHING: Answer = { description: 'Done. The answer has no body.' }
