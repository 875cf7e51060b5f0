import { createHash } from 'node:crypto'

// The raw state, as the engine writes it. Of other forms than version 4, and of states that a client has encrypted,
// only the head is understood: they are kept as they are.

/** An output of a state; `type` as the engine tells it, such as `"string"` or `["list", "string"]`. */
export interface StateOutput {
  name: string
  value: unknown
  type: unknown
  sensitive: boolean
}

/** One managed object, by its address. */
export interface StateObject {
  address: string
  name: string
  module: string
  provider: string
  providerType: string
  nameIndex: string | null
  /** Changes when anything about it does. */
  digest: string
}

/** How many objects a resource block has, as state versions show it. */
export interface StateSummary {
  name: string
  type: string
  count: number
  module: string
  provider: string
}

/** What there is to know of a raw state without keeping it. */
export interface StateFile {
  /** Bytes. */
  size: number
  /** Hexadecimal. */
  md5: string
  serial: number | undefined
  lineage: string | undefined
  formatVersion: number | undefined
  terraformVersion: string | undefined
  outputs: StateOutput[]
  objects: StateObject[]
  summary: StateSummary[]
}

/** The bytes are no state, or not the one that was announced. */
export class StateFileError extends Error {
  override name = 'StateFileError'
  /** Whether they have another digest than was announced. */
  readonly isOther: boolean

  constructor(message: string, options: { cause?: unknown; isOther?: boolean } = {}) {
    super(message, { cause: options.cause })
    this.isOther = options.isOther ?? false
  }
}

interface RawInstance {
  index_key?: number | string
  deposed?: string
}

interface RawResource {
  module?: string
  mode: string
  type: string
  name: string
  provider: string
  instances: RawInstance[]
}

/** Reads the bytes of a raw state. Throws `StateFileError` when they are none, or have another MD5 than `expected`. */
export function parseStateFile(bytes: Uint8Array, expected?: string): StateFile {
  const md5 = createHash('md5').update(bytes).digest('hex')
  if (expected !== undefined && md5 !== expected)
    throw new StateFileError(`its MD5 is ${md5}, and ${expected} was announced`, { isOther: true })
  const state = parseObject(new TextDecoder().decode(bytes))
  const resources = state['version'] === 4 ? resourcesOf(state['resources']) : []
  return {
    size: bytes.length,
    md5,
    serial: countOf(state['serial']),
    lineage: textOf(state['lineage']),
    formatVersion: countOf(state['version']),
    terraformVersion: textOf(state['terraform_version']),
    outputs: state['version'] === 4 ? parseOutputs(state['outputs'] ?? {}) : [],
    objects: objectsOf(resources),
    summary: resources.map(summarize),
  }
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new StateFileError('it is not JSON', { cause })
  }
  if (!isObject(value)) throw new StateFileError('it is not a JSON object')
  return value
}

/** Outputs by name, as a state has them and as clients announce them. Throws `StateFileError`. */
export function parseOutputs(value: unknown): StateOutput[] {
  if (!isObject(value)) throw new StateFileError('its outputs are not an object')
  return Object.entries(value).map(([name, output]) => {
    if (!isObject(output) || output['type'] === undefined)
      throw new StateFileError(`its output ${JSON.stringify(name)} has no type`)
    const {
      value = null,
      type,
      sensitive = false,
    } = output as { value: unknown; type: unknown; sensitive: unknown }
    return { name, value, type, sensitive: sensitive === true }
  })
}

function resourcesOf(value: unknown): RawResource[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new StateFileError('its resources are not a list')
  return value.map((resource) => {
    const known =
      isObject(resource) && ['mode', 'type', 'name', 'provider'].every((key) => textOf(resource[key]))
    if (!known || !Array.isArray(resource['instances']) || !resource['instances'].every(isObject))
      throw new StateFileError('it has a resource without a mode, a type, a name, a provider or instances')
    return resource as unknown as RawResource
  })
}

function summarize({ name, type, mode, module, provider, instances }: RawResource): StateSummary {
  return {
    name,
    type: mode === 'data' ? `data.${type}` : type,
    count: instances.length,
    module: module ?? 'root',
    provider,
  }
}

function objectsOf(resources: readonly RawResource[]): StateObject[] {
  const managed = resources.filter(({ mode }) => mode === 'managed')
  const objects = managed.flatMap((resource) =>
    resource.instances
      // What is about to be destroyed is not the resource any more.
      .filter(({ deposed }) => deposed === undefined)
      .map((instance) => objectOf(resource, instance)),
  )
  return [...new Map(objects.map((object) => [object.address, object])).values()]
}

function objectOf({ module, type, name, provider }: RawResource, instance: RawInstance): StateObject {
  const { index_key: index } = instance
  const at = index === undefined ? '' : `[${JSON.stringify(index)}]`
  return {
    address: `${module ? `${module}.` : ''}${type}.${name}${at}`,
    name,
    module: module ?? 'root',
    provider: nameOfProvider(provider),
    providerType: type,
    nameIndex: index === undefined ? null : String(index),
    digest: createHash('sha256').update(JSON.stringify(instance)).digest('base64url'),
  }
}

/** `hashicorp/random` of `provider["registry.terraform.io/hashicorp/random"]`. */
function nameOfProvider(provider: string): string {
  return /\["[^/"]+\/([^"]+)"\]/.exec(provider)?.[1] ?? provider
}

/**
 * The same raw state with another serial. Everything else stays to the byte: what a parser would make of large numbers
 * is not what the engine wrote. Throws `StateFileError` when the state has no serial.
 */
export function withSerial(text: string, serial: number): string {
  let depth = 0
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [found] = match
    if (found === '{' || found === '[') depth += 1
    else if (found === '}' || found === ']') depth -= 1
    else if (depth === 1 && found === '"serial"') {
      const value = /^\s*:\s*(\d+)/.exec(text.slice(token.lastIndex, token.lastIndex + 100))
      if (!value) continue
      const start = token.lastIndex + value[0].length - (value[1] as string).length
      return text.slice(0, start) + serial + text.slice(token.lastIndex + value[0].length)
    }
  }
  throw new StateFileError('it has no serial')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
