// The builders of schemas that we use, with TypeBox's types and without its code: of the 370 modules that
// `import { Type } from 'typebox'` loads, these few lines are what runs (docs/adr/0011).

type Builders = Pick<
  typeof import('typebox').Type,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'Required'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

/** Marks what an object may lack. Not enumerable, so that it is no part of the JSON Schema. */
const OPTIONAL = Symbol('optional')

type Options = Record<string, unknown>

interface Schema {
  [OPTIONAL]?: boolean
  properties?: Record<string, Schema>
  [keyword: string]: unknown
}

function marked(schema: Schema, isOptional: boolean): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: isOptional })
}

function object(properties: Record<string, Schema>, options?: Options): Schema {
  const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL])
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

/** The object with each property marked; the options of the object do not carry over. */
function withEach({ properties = {} }: Schema, isOptional: boolean): Schema {
  const all = Object.entries(properties).map(([name, schema]) => [name, marked(schema, isOptional)])
  return object(Object.fromEntries(all))
}

const builders = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: object,
  Optional: (schema: Schema) => marked(schema, true),
  Partial: (schema: Schema, options?: Options) => ({ ...withEach(schema, true), ...options }),
  Record: (_key: Schema, value: Schema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  Required: (schema: Schema, options?: Options) => ({ ...withEach(schema, false), ...options }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: Schema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
}

/** Makes JSON Schemas whose types TypeScript knows (TypeBox's `Static`). Keys of records are text. */
export const Type = builders as unknown as Builders
