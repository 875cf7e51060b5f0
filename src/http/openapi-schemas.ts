import type { JsonSchema } from '../lib/openapi.ts'

const LISTS = ['anyOf', 'oneOf', 'allOf']
const SINGLES = ['items', 'additionalProperties', 'not']

/** Turns the schemas that the server validates with into those of the document. */
export class Schemas {
  /** Every schema with a title that was met, by its title. */
  readonly named: Record<string, JsonSchema> = {}

  /** The schema as the document shows it; what has a title, and is described once, becomes a reference. */
  convert(schema: unknown): JsonSchema {
    const { title, ...rest } = schema as JsonSchema
    if (typeof title !== 'string') return this.#body(rest)
    this.named[title] ??= this.#body(rest)
    return { $ref: `#/components/schemas/${title}` }
  }

  #body({ 'x-rule': rule, 'x-predicate': predicate, ...schema }: JsonSchema): JsonSchema {
    const converted: JsonSchema = {}
    for (const [keyword, value] of Object.entries(schema)) converted[keyword] = this.#keyword(keyword, value)
    const said = [
      schema['description'],
      rule && `Allowed: ${rule}.`,
      predicate && `Otherwise it ${predicate}.`,
    ]
    const description = said.filter(Boolean).join(' ')
    return description ? { ...converted, description } : converted
  }

  #keyword(keyword: string, value: unknown): unknown {
    if (keyword === 'properties') {
      const properties = Object.entries(value as JsonSchema)
      return Object.fromEntries(properties.map(([name, property]) => [name, this.convert(property)]))
    }
    if (LISTS.includes(keyword)) return (value as JsonSchema[]).map((item) => this.convert(item))
    if (SINGLES.includes(keyword) && typeof value === 'object') return this.convert(value)
    return value
  }
}

/** Whether an empty body passes, once its defaults are filled in: then none is needed. */
export function acceptsNothing({ required = [], properties = {} }: JsonSchema): boolean {
  return (required as string[]).every((name) => {
    const property = (properties as Record<string, JsonSchema>)[name]
    return property?.['default'] !== undefined && acceptsNothing(property)
  })
}
