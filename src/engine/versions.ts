import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import semver from 'semver'
import type { EngineVersion } from './channel.ts'
import { EngineVersionError, newest, parseWanted } from './constraints.ts'
import { type Archive, downloadEngine, findInMirror, listMirror } from './download.ts'
import { findOnPath, isExecutable, SYSTEM_PATH } from './path.ts'
import { type Rules, rulesOf } from './version-rules.ts'

/** A program that carries out runs. */
export interface EngineBinary {
  version: string
  binary: string
}

export interface EngineSources {
  /** Has versions as `<version>/terraform` or `<version>/tofu`. */
  directory: string
  /** Where versions that are not there are fetched from. */
  mirror: string | undefined
  /** Where a default engine is looked for. */
  path: string
}

const NAMES = ['terraform', 'tofu']

/** The engines of this machine, and those that can be had. */
export class Engines {
  readonly #sources: EngineSources
  readonly #default: EngineBinary | undefined
  readonly #downloads = new Map<string, Promise<void>>()

  private constructor(sources: EngineSources, found: EngineBinary | undefined) {
    this.#sources = sources
    this.#default = found
  }

  static async open(sources: EngineSources): Promise<Engines> {
    const binary = NAMES.map((name) => findOnPath(name, sources.path)).find((path) => path !== undefined)
    return new Engines(sources, binary ? await askVersion(binary) : undefined)
  }

  /** Where engines lie, for those who must be able to read them. */
  get directory(): string {
    return this.#sources.directory
  }

  /** The versions that are on this machine. */
  async list(): Promise<string[]> {
    return [...(await this.#local()).keys()].filter((version) => semver.valid(version) === version)
  }

  /**
   * The engine for what a workspace asks for: `latest`, a constraint or a version. What is here, or has an archive of
   * its own in `special`, comes first; a mirror is asked only when nothing of it will do. Throws an
   * `EngineVersionError`.
   */
  async resolve(setting: string, special: readonly EngineVersion[] = []): Promise<EngineBinary> {
    const wanted = parseWanted(setting)
    const rules = rulesOf(wanted, special)
    if (rules.exact) rules.refuseDisabled([rules.exact])
    const local = await this.#local()
    const known = [...new Set([...local.keys(), ...rules.archives.keys()])]
    const version = newest(known, rules)
    const archive = version && rules.archives.get(version)
    if (archive) return this.#fetchArchive(version, archive)
    if (version) return { version, binary: local.get(version) as string }
    return this.#fetchFromMirror(setting, rules, known)
  }

  /** Binaries by version. */
  async #local(): Promise<Map<string, string>> {
    const { directory } = this.#sources
    const names = await readdir(directory).catch(() => [])
    const found = new Map<string, string>()
    if (this.#default) found.set(this.#default.version, this.#default.binary)
    for (const version of names.filter((name) => semver.valid(name) === name)) {
      const binary = programIn(join(directory, version))
      if (binary) found.set(version, binary)
    }
    return found
  }

  async #fetchFromMirror(setting: string, rules: Rules, known: readonly string[]): Promise<EngineBinary> {
    const { mirror, directory } = this.#sources
    const version = mirror && (rules.exact ?? newest(await listValid(mirror), rules))
    if (!version) rules.refuseDisabled(known)
    if (!mirror || !version) throw new EngineVersionError(this.#explain(setting, known))
    const target = join(directory, version)
    await this.#once(target, () =>
      downloadEngine(version, mirror, () => findInMirror(mirror, version), ['terraform'], target),
    )
    return { version, binary: join(target, 'terraform') }
  }

  /** It is kept by its digest: whoever changes that gets another engine, and what is here by the version stays. */
  async #fetchArchive(version: string, archive: Archive): Promise<EngineBinary> {
    const target = join(this.#sources.directory, `sha256-${archive.sha.toLowerCase()}`)
    if (!programIn(target)) {
      await this.#once(target, () => downloadEngine(version, archive.url, () => archive, NAMES, target))
    }
    return { version, binary: programIn(target) as string }
  }

  /** Runs that want the same at the same moment wait for one download. */
  #once(target: string, fetch: () => Promise<void>): Promise<void> {
    const known = this.#downloads.get(target)
    if (known) return known
    const download = fetch().finally(() => this.#downloads.delete(target))
    this.#downloads.set(target, download)
    return download
  }

  #explain(setting: string, known: readonly string[]): string {
    const { directory, mirror } = this.#sources
    const here = known.length > 0 ? `here are ${[...known].sort(semver.compare).join(', ')}` : 'here is none'
    const where = mirror ? `, and ${mirror} has none that will do` : ''
    return `engine version ${setting || 'latest'} is not available; ${here}${where}. Put it into ${join(directory, '<version>', 'terraform')}, configure a mirror, or change the version of the workspace`
  }
}

/** The path of the engine in its directory. */
function programIn(directory: string): string | undefined {
  return NAMES.map((name) => join(directory, name)).find(isExecutable)
}

async function listValid(mirror: string): Promise<string[]> {
  return (await listMirror(mirror)).filter((version) => semver.valid(version) === version)
}

async function askVersion(binary: string): Promise<EngineBinary> {
  const env = { PATH: SYSTEM_PATH, HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' }
  const { stdout } = await promisify(execFile)(binary, ['version', '-json'], { env, timeout: 30_000 })
  return { version: JSON.parse(stdout).terraform_version, binary }
}
