import type { Static, TObject, TProperties, TSchema, TUnsafe } from 'typebox'
import { Type } from '../lib/type.ts'

/** The same schema, also allowing null. */
export function Nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  return Type.Unsafe({ ...schema, type: [(schema as { type?: string }).type, 'null'] })
}

/** One of a few strings. */
export function OneOf<T extends string>(...values: T[]): TUnsafe<T> {
  return Type.Unsafe({ type: 'string', enum: values })
}

/**
 * A string that is not blank. `rule` completes "… is invalid: …" in the error message; `predicate` is all that
 * the message says after the attribute's name, for texts that clients look for.
 */
export function Text(
  options: {
    pattern?: string
    maxLength?: number
    rule?: string
    predicate?: string
    description?: string
    examples?: string[]
  } = {},
) {
  const { rule, predicate, ...keywords } = options
  return Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '\\S',
    ...(rule && { 'x-rule': rule }),
    ...(predicate && { 'x-predicate': predicate }),
    ...keywords,
  })
}

/** The same schema, with what it means and an example for the documentation. */
export function About<T extends TSchema>(description: string, schema: T, ...examples: unknown[]): T {
  return { ...schema, description, ...(examples.length > 0 && { examples }) }
}

/** `include=`: which related resources come along. */
export function Include(names: readonly string[]) {
  const description = `Relationships to bring along, separated by commas: ${names.join(', ')}.`
  return Type.Optional(Type.String({ description }))
}

/** `q=`: a text to look for. */
export function Search(description: string) {
  return Type.Optional(Type.String({ maxLength: 255, description }))
}

/** A query parameter with one value, or several: repeated or separated by commas, as clients disagree. */
export const Values = Type.Unsafe<string | string[]>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
})

/** What a parameter of `Values` holds; undefined when it is absent. */
export function valuesOf(parameter: string | string[] | undefined): string[] | undefined {
  return parameter === undefined
    ? undefined
    : [parameter].flat().flatMap((text) => text.split(',').filter((value) => value !== ''))
}

/** Every property optional, as in a PATCH that changes only what it names. */
export function Changes<T extends TProperties>(attributes: TObject<T>) {
  return Type.Partial(attributes)
}

/** A resource identifier in a relationship: `{ id, type }`. */
function Identifier(type: string) {
  return Type.Object({ id: Text(), type: OneOf(type) }, { additionalProperties: false })
}

/** A relationship to one resource. */
export function ToOne(type: string) {
  return Type.Object({ data: Identifier(type) }, { additionalProperties: false })
}

/** A relationship to one resource, or to none. */
export function ToOneOrNone(type: string) {
  return Type.Object({ data: Nullable(Identifier(type)) }, { additionalProperties: false })
}

/** A relationship to many resources, and the body of the `/relationships/…` endpoints. */
export function ToMany(type: string) {
  return Type.Object(
    { data: Type.Array(Identifier(type), { maxItems: 1000 }) },
    { additionalProperties: false },
  )
}

/** Resources that a request makes as part of another, which have no id yet: in a relationship, or as a body. */
export function Embedded<A extends TObject>(type: string, attributes: A) {
  const id = Type.Optional(Type.String({ maxLength: 255 }))
  const given = Type.Unsafe<Static<A>>({ ...attributes, additionalProperties: false, default: {} })
  const item = Type.Object({ type: OneOf(type), id, attributes: given }, { additionalProperties: false })
  return Type.Object({ data: Type.Array(item, { maxItems: 1000 }) }, { additionalProperties: false })
}

/**
 * A JSON:API request body with one resource of `type` (several spellings where clients disagree). Unknown
 * attributes are dropped. Missing objects count as empty, so that each required attribute is reported.
 */
export function input<A extends TObject, R extends TObject>(
  type: string | readonly string[],
  attributes: A,
  relationships: R = Type.Object({}) as R,
) {
  return Type.Object({
    data: Type.Object(
      {
        type: OneOf(...(typeof type === 'string' ? [type] : type)),
        id: Type.Optional(Type.String({ maxLength: 255 })),
        attributes: Type.Unsafe<Static<A>>({ ...attributes, additionalProperties: false, default: {} }),
        relationships: Type.Unsafe<Static<R>>({ ...relationships, additionalProperties: false, default: {} }),
      },
      { default: {} },
    ),
  })
}
