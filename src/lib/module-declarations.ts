// What the configuration of a module declares, in the spelling of the module registry protocol.

export interface ModuleInput {
  name: string
  /** As it is written; empty for any. */
  type: string
  description: string
  /** As it is written; empty when the input is required. */
  default: string
  required: boolean
}

export interface ModuleOutput {
  name: string
  description: string
}

/** Another module that a module calls. */
export interface ModuleDependency {
  name: string
  source: string
  version: string
}

export interface ProviderDependency {
  name: string
  namespace: string
  source: string
  version: string
}

export interface ModuleResource {
  name: string
  type: string
}

/** What one file, or all files of a directory, declare. */
export interface Declarations {
  inputs: ModuleInput[]
  outputs: ModuleOutput[]
  dependencies: ModuleDependency[]
  provider_dependencies: ProviderDependency[]
  resources: ModuleResource[]
}

export function noDeclarations(): Declarations {
  return { inputs: [], outputs: [], dependencies: [], provider_dependencies: [], resources: [] }
}

/** A provider that a module requires; `source` is as it is written, or empty. */
export function requireProvider(name: string, source: string, version: string): ProviderDependency {
  const full = source || `hashicorp/${name}`
  return { name, namespace: full.split('/').at(-2) ?? '', source: full, version }
}

/** Adds what another file of the same directory declares. */
export function addDeclarations(all: Declarations, more: Declarations): void {
  for (const [kind, declared] of Object.entries(more) as [keyof Declarations, never[]][]) {
    for (const one of declared) all[kind].push(one)
  }
}
