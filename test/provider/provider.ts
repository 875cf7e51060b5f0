import type { Call, Methods } from './grpc.ts'
import { decode, encode } from './msgpack.ts'
import { file, fileDataSource } from './resources/file.ts'
import type { Context, DataSource, Resource } from './resources/resource.ts'
import { slow } from './resources/slow.ts'
import { type Attributes, check, conform, encodeSchema, encodeSchemas, Failure, plan } from './schema.ts'
import { UNKNOWN, type Value, type Values } from './values.ts'
import { type Field, type Message, message } from './wire.ts'

// The service tfplugin5.Provider of docs/plugin-protocol/tfplugin5.8.proto in hashicorp/terraform.

const RESOURCES: Record<string, Resource> = { fixture_file: file, fixture_slow: slow }

const DATA_SOURCES: Record<string, DataSource> = { fixture_file: fileDataSource }

const CONFIGURATION: Attributes = {
  directory: {
    type: 'string',
    description: 'Where objects are kept; a relative path starts where Terraform runs.',
    required: true,
  },
}

/** Terraform may keep the schema instead of asking each process for it. */
const CAPABILITIES = message({ 2: true })

const ERROR = 1

/** What the provider answers, by method; the methods of one object share its configuration. */
export function providerMethods(): Methods {
  const stop = new AbortController()
  let directory: Value = UNKNOWN

  const context = (): Context => {
    if (typeof directory === 'string') return { directory, signal: stop.signal }
    throw new Failure('The directory is not known', 'The provider can do nothing before it is.')
  }

  return named({
    GetMetadata: [2, () => ({ 1: CAPABILITIES, 3: names(DATA_SOURCES), 4: names(RESOURCES) })],
    GetSchema: [
      4,
      () => ({
        1: encodeSchema(CONFIGURATION),
        2: encodeSchemas(RESOURCES),
        3: encodeSchemas(DATA_SOURCES),
        6: CAPABILITIES,
      }),
    ],
    GetFunctions: [2, () => ({})],
    PrepareProviderConfig: [2, (request) => ({ 1: request.bytes(1) })],
    ValidateResourceTypeConfig: [1, (request) => validate(RESOURCES, request)],
    ValidateDataSourceConfig: [1, (request) => validate(DATA_SOURCES, request)],
    Configure: [
      1,
      (request) => {
        directory = values(request.message(2))?.['directory'] ?? null
        return {}
      },
    ],
    UpgradeResourceState: [2, upgradeState],
    ReadResource: [2, (request) => readResource(context(), request)],
    PlanResourceChange: [4, planChange],
    ApplyResourceChange: [3, (request) => applyChange(context, request)],
    ImportResourceState: [2, importState],
    ReadDataSource: [
      2,
      async (request) => {
        const source = typeOf(DATA_SOURCES, request.text(1))
        return { 1: dynamic(await source.read(context(), values(request.message(2)) ?? {})) }
      },
    ],
    Stop: [
      1,
      () => {
        stop.abort()
        return {}
      },
    ],
  })
}

type Method = (request: Message) => Record<number, Field> | Promise<Record<number, Field>>

/** Calls by path; what a method throws is answered in the field that its response has for diagnostics. */
function named(methods: Record<string, [diagnostics: number, method: Method]>): Methods {
  const calls = Object.entries(methods).map(([name, [diagnostics, method]]): [string, Call] => {
    const call: Call = async (request) => {
      try {
        return message(await method(request))
      } catch (error) {
        return message({ [diagnostics]: diagnostic(error) })
      }
    }
    return [`/tfplugin5.Provider/${name}`, call]
  })
  return Object.fromEntries(calls)
}

function validate(types: Record<string, { attributes: Attributes }>, request: Message) {
  const { attributes } = typeOf(types, request.text(1))
  return { 1: check(attributes, values(request.message(2)) ?? {}).map(diagnostic) }
}

function upgradeState(request: Message) {
  const { attributes } = typeOf(RESOURCES, request.text(1))
  const state = JSON.parse(request.message(3).text(1))
  return { 1: dynamic(conform(attributes, state)) }
}

async function readResource(context: Context, request: Message) {
  const resource = typeOf(RESOURCES, request.text(1))
  const state = values(request.message(2))
  return { 1: dynamic((state && (await resource.read(context, state))) ?? null) }
}

function planChange(request: Message) {
  const { attributes } = typeOf(RESOURCES, request.text(1))
  const proposed = values(request.message(3))
  if (!proposed) return { 1: dynamic(null) }
  const { planned, replaces } = plan(attributes, values(request.message(2)), proposed)
  return { 1: dynamic(planned), 2: replaces.map(attributePath) }
}

async function applyChange(context: () => Context, request: Message) {
  const resource = typeOf(RESOURCES, request.text(1))
  const prior = values(request.message(2))
  try {
    return { 1: dynamic(await apply(context(), resource, prior, values(request.message(3)))) }
  } catch (error) {
    return { 1: dynamic(prior), 3: diagnostic(error) }
  }
}

async function apply(context: Context, resource: Resource, prior: Values | null, planned: Values | null) {
  if (planned) return prior ? resource.update(context, planned) : resource.create(context, planned)
  if (prior) await resource.remove(context, prior)
  return null
}

function importState(request: Message) {
  const [type, id] = [request.text(1), request.text(2)]
  const { attributes, describe } = typeOf(RESOURCES, type)
  return { 1: message({ 1: type, 2: dynamic(conform(attributes, describe(id))) }) }
}

function typeOf<T>(types: Record<string, T>, name: string): T {
  const type = types[name]
  if (!type) throw new Failure('No such type', `The provider has no ${name}.`)
  return type
}

function names(types: object): Buffer[] {
  return Object.keys(types).map((name) => message({ 1: name }))
}

/** tfplugin5.DynamicValue */
function dynamic(value: Value): Buffer {
  return message({ 1: encode(value) })
}

/** The object of a DynamicValue; Terraform always sends MessagePack. */
function values(value: Message): Values | null {
  return decode(value.bytes(1)) as Values | null
}

/** tfplugin5.Diagnostic */
function diagnostic(error: unknown): Buffer {
  if (error instanceof Failure) {
    const attribute = error.attribute === undefined ? undefined : attributePath(error.attribute)
    return message({ 1: ERROR, 2: error.message, 3: error.detail, 4: attribute })
  }
  return message({ 1: ERROR, 2: 'The provider failed', 3: String(error) })
}

/** tfplugin5.AttributePath */
function attributePath(name: string): Buffer {
  return message({ 1: message({ 1: name }) })
}
