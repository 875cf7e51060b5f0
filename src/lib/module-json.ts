import {
  type Declarations,
  type ModuleInput,
  noDeclarations,
  type ProviderDependency,
  requireProvider,
} from './module-declarations.ts'
import type { ReadFile } from './module-hcl.ts'

type Members = Record<string, unknown>

/** Reads the JSON form of a configuration, such as `main.tf.json`. */
export function readJsonFile(text: string): ReadFile {
  try {
    return { declarations: declarationsOf(JSON.parse(text)) }
  } catch (error) {
    // The second is what a default in too many brackets leads to.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    return { declarations: noDeclarations(), problem: 'it is not JSON, or nested too deeply' }
  }
}

function declarationsOf(file: unknown): Declarations {
  const tops = membersOf(file)
  const all = (type: string) => tops.flatMap((top) => labelled(top[type]))
  return {
    inputs: all('variable').map(toInput),
    outputs: all('output').map(([name, has]) => ({ name, description: textOf(has['description']) })),
    dependencies: all('module').map(([name, has]) => ({
      name,
      source: textOf(has['source']),
      version: textOf(has['version']),
    })),
    provider_dependencies: tops
      .flatMap((top) => membersOf(top['terraform']))
      .flatMap((settings) => membersOf(settings['required_providers']))
      .flatMap(Object.entries)
      .map(toProvider),
    resources: tops
      .flatMap((top) => membersOf(top['resource']))
      .flatMap(Object.entries)
      .flatMap(([type, named]) => labelled(named).map(([name]) => ({ name, type }))),
  }
}

function toInput([name, has]: [string, Members]): ModuleInput {
  const required = !('default' in has)
  return {
    name,
    type: textOf(has['type']),
    description: textOf(has['description']),
    default: required ? '' : JSON.stringify(has['default'], null, 2),
    required,
  }
}

function toProvider([name, value]: [string, unknown]): ProviderDependency {
  const [has] = membersOf(value)
  return requireProvider(name, textOf(has?.['source']), textOf(has ? has['version'] : value))
}

/** Blocks may be an object, or a list of them. */
function membersOf(value: unknown): Members[] {
  const isObject = (item: unknown): item is Members =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
  return [value].flat().filter(isObject)
}

/** Blocks with a label, which is the name of a member. */
function labelled(value: unknown): [string, Members][] {
  return membersOf(value).flatMap((members) =>
    Object.entries(members).flatMap(([name, body]) =>
      membersOf(body).map((has): [string, Members] => [name, has]),
    ),
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
