import { UNKNOWN, type Value, type Values } from './values.ts'
import { entries, message } from './wire.ts'

/** An attribute, as the configuration's author sees it. */
export interface Attribute {
  type: 'string' | 'number' | 'bool'
  description: string
  required?: boolean
  optional?: boolean
  computed?: boolean
  sensitive?: boolean
  /** Whether another value needs another object. */
  replaces?: boolean
  /** The attribute that a computed one is computed from: when that changes, this is unknown until applied. */
  computedFrom?: string
  /** What is wrong with a known value of the configuration, if anything is. */
  check?: (value: Value) => string | undefined
}

export type Attributes = Record<string, Attribute>

/** A value that an author got wrong, or an operation that failed; Terraform shows it as a diagnostic. */
export class Failure extends Error {
  readonly detail: string
  readonly attribute: string | undefined

  constructor(summary: string, detail: string, attribute?: string) {
    super(summary)
    this.detail = detail
    this.attribute = attribute
  }
}

/** tfplugin5.Schema */
export function encodeSchema(attributes: Attributes): Buffer {
  const encoded = Object.entries(attributes).map(([name, attribute]) =>
    message({
      1: name,
      2: Buffer.from(JSON.stringify(attribute.type)),
      3: attribute.description,
      4: attribute.required,
      5: attribute.optional,
      6: attribute.computed,
      7: attribute.sensitive,
    }),
  )
  return message({ 2: message({ 2: encoded }) })
}

/** Schemas by the name of their resource or data source. */
export function encodeSchemas(types: Record<string, { attributes: Attributes }>): Buffer[] {
  return entries(
    Object.fromEntries(Object.entries(types).map(([name, type]) => [name, encodeSchema(type.attributes)])),
  )
}

/** The values of a configuration that break a rule of their own. */
export function check(attributes: Attributes, config: Values): Failure[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = config[name] ?? null
    const wrong = value === null || value === UNKNOWN ? undefined : attribute.check?.(value)
    return wrong === undefined ? [] : [new Failure(`Invalid ${name}`, wrong, name)]
  })
}

/** The attributes of the schema only, null where a state written by another version has none. */
export function conform(attributes: Attributes, values: Values): Values {
  return Object.fromEntries(Object.keys(attributes).map((name) => [name, values[name] ?? null]))
}

export interface Plan {
  planned: Values
  /** The attributes whose change needs another object. */
  replaces: string[]
}

/** What would come of `proposed`: Terraform's merge of the configuration with the prior state. */
export function plan(attributes: Attributes, prior: Values | null, proposed: Values): Plan {
  const changed = (name: string) => prior === null || prior[name] !== proposed[name]
  const planned = Object.entries(attributes).map(([name, { computed, computedFrom }]) => {
    const value = proposed[name] ?? null
    const isMissing = computed && prior === null && value === null
    const isStale = computedFrom !== undefined && changed(computedFrom)
    return [name, isMissing || isStale ? UNKNOWN : value]
  })
  const replaces = Object.keys(attributes).filter(
    (name) => prior !== null && attributes[name]?.replaces && changed(name),
  )
  return { planned: Object.fromEntries(planned), replaces }
}
