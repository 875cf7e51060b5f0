import { posix } from 'node:path'
import { isConfiguration, isReadme, type ModuleFiles } from './module-archive.ts'
import { addDeclarations, type Declarations, noDeclarations } from './module-declarations.ts'
import { hclReader, type ReadFile } from './module-hcl.ts'
import { readJsonFile } from './module-json.ts'

/** A directory of a module: its root, a module in it, or an example. */
export interface ModulePart extends Declarations {
  /** Empty for the root. */
  path: string
  name: string
  readme: string
  /** Whether it declares nothing. */
  empty: boolean
}

export interface ModuleDescription {
  root: ModulePart
  submodules: ModulePart[]
  examples: ModulePart[]
  /** Files that could not be read, or not all of them, each with the reason. */
  warnings: string[]
}

/** Files that only replace what others declare. */
const OVERRIDE = /(^|_)override\.(tf|tofu)(\.json)?$/

/**
 * Describes a module by its files: what it takes and gives, what it needs, and its README. Nothing is evaluated.
 * Undefined when there is no configuration in the root.
 */
export async function describeModule({
  texts,
  tooLarge,
  omitted,
}: ModuleFiles): Promise<ModuleDescription | undefined> {
  const readHcl = await hclReader()
  const warnings = tooLarge.map((path) => `${path} is too large to be shown`)
  if (omitted > 0) warnings.push(`${omitted} more files are not shown`)
  const readmes = readmesOf(texts)
  const parts = new Map<string, ModulePart>()
  for (const path of configurations([...texts.keys(), ...tooLarge])) {
    const directory = directoryOf(path)
    const part = parts.get(directory) ?? startPart(directory, readmes.get(directory) ?? '')
    parts.set(directory, part)
    const text = texts.get(path)
    if (text === undefined) continue
    const { declarations, problem }: ReadFile = path.endsWith('.json') ? readJsonFile(text) : readHcl(text)
    if (problem) warnings.push(`${path}: ${problem}`)
    addDeclarations(part, declarations)
  }
  const { '': root, ...others } = Object.fromEntries(parts)
  if (!root) return undefined
  for (const part of parts.values()) finishPart(part)
  const below = (directory: string) =>
    Object.values(others).filter(({ path }) => path.startsWith(`${directory}/`))
  return { root, submodules: below('modules'), examples: below('examples'), warnings }
}

/** In order. Of `main.tofu` and `main.tf` the first counts, as for OpenTofu. */
function configurations(paths: string[]): string[] {
  const known = new Set(paths)
  return paths
    .filter((path) => isConfiguration(path) && !OVERRIDE.test(posix.basename(path)))
    .filter((path) => !known.has(path.replace(/\.tf(\.json)?$/, '.tofu$1')) || !/\.tf(\.json)?$/.test(path))
    .sort()
}

/** The READMEs by their directories; of several the one with the longest name, which says that it is Markdown. */
function readmesOf(texts: ModuleFiles['texts']): Map<string, string> {
  const readmes = [...texts.keys()].filter(isReadme).sort((a, b) => a.length - b.length)
  return new Map(readmes.map((path) => [directoryOf(path), texts.get(path) ?? '']))
}

function directoryOf(path: string): string {
  return path.includes('/') ? posix.dirname(path) : ''
}

function startPart(path: string, readme: string): ModulePart {
  return { path, name: posix.basename(path), readme, empty: true, ...noDeclarations() }
}

function finishPart(part: ModulePart): void {
  const { inputs, outputs, dependencies, provider_dependencies: providers, resources } = part
  const all = [inputs, outputs, dependencies, providers, resources]
  part.empty = all.every((declared) => declared.length === 0)
  for (const declared of [inputs, outputs, dependencies, providers]) {
    declared.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  }
}
