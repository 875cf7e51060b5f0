import type { JsonSchema, OpenApi, OpenApiReference } from '../../lib/openapi.ts'

/** One place of a schema, as a line of the reference. */
export interface Row {
  /** Such as `data.attributes.name`. */
  path: string
  type: string
  /** The schema that describes the place, if it has a name. */
  reference: string | undefined
  required: boolean
  description: string
  examples: readonly unknown[]
}

/** The name of the schema that `schema` refers to. */
export function nameOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' ? /^#\/components\/schemas\/(.+)$/.exec($ref)?.[1] : undefined
}

/** What a reference within the document stands for; anything else as it is. */
export function resolve<T extends object>(document: OpenApi, value: T | OpenApiReference): T {
  if (!('$ref' in value)) return value
  const parts = value.$ref.slice('#/'.length).split('/')
  return parts.reduce<unknown>((part, name) => (part as JsonSchema)[name], document) as T
}

/** Every place of a schema that has a value of its own, down to the schemas that it refers to. */
export function rowsOf(schema: JsonSchema, path = '', required = true): Row[] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  const needed = (schema['required'] ?? []) as string[]
  const inner = properties.flatMap(([name, property]) =>
    rowsOf(property, path ? `${path}.${name}` : name, needed.includes(name)),
  )
  if (schema['properties']) return inner
  const items = schema['items'] as JsonSchema | undefined
  if (items?.['properties'] || items?.['$ref']) return rowsOf(items, `${path}[]`, required)
  if (path === '' && nameOf(schema) === undefined) return []
  const { description = '', examples = [] } = schema as { description?: string; examples?: unknown[] }
  return [{ path, type: typeOf(schema), reference: nameOf(schema), required, description, examples }]
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: value, anyOf, items } = schema
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).join(' or ')
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(anyOf)) return anyOf.map((each) => nameOf(each) ?? typeOf(each)).join(' or ')
  if (type === 'array' && items) return `list of ${typeOf(items as JsonSchema)}`
  return [type ?? 'anything'].flat().join(' or ')
}

/** A value that fits a schema, from its examples. */
export function exampleOf(document: OpenApi, given: JsonSchema): unknown {
  const schema = resolve<JsonSchema>(document, given)
  const { examples, enum: values, const: value, anyOf, properties, items } = schema
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(values)) return values[0]
  if (value !== undefined) return value
  if (Array.isArray(anyOf)) return exampleOf(document, anyOf[0])
  if (properties) {
    const entries = Object.entries(properties as Record<string, JsonSchema>)
    return Object.fromEntries(entries.map(([name, property]) => [name, exampleOf(document, property)]))
  }
  if (items) return [exampleOf(document, items as JsonSchema)]
  return PLAIN[[schema['type']].flat()[0] as string] ?? null
}

const PLAIN: Record<string, unknown> = { string: 'text', integer: 1, number: 1, boolean: true, object: {} }
