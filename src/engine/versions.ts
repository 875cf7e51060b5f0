import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import semver from 'semver'
import { EngineVersionError, newest, parseWanted } from './constraints.ts'
import { downloadEngine, listMirror } from './download.ts'
import { findOnPath, isExecutable, SYSTEM_PATH } from './path.ts'

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

  /**
   * The engine for what a workspace asks for: `latest`, a constraint or a version. What is here comes first; a mirror
   * is asked only when nothing here will do. Throws an `EngineVersionError`.
   */
  async resolve(setting: string): Promise<EngineBinary> {
    const wanted = parseWanted(setting)
    const local = await this.#list()
    const found = newest([...local.keys()], wanted)
    if (found) return { version: found, binary: local.get(found) as string }
    const { mirror, directory } = this.#sources
    const version = mirror && (wanted.exact ?? newest(await listValid(mirror), wanted))
    if (!mirror || !version) throw new EngineVersionError(this.#explain(setting, [...local.keys()]))
    await this.#download(mirror, version)
    return { version, binary: join(directory, version, 'terraform') }
  }

  /** By version. */
  async #list(): Promise<Map<string, string>> {
    const { directory } = this.#sources
    const names = await readdir(directory).catch(() => [])
    const found = new Map<string, string>()
    if (this.#default) found.set(this.#default.version, this.#default.binary)
    for (const version of names.filter((name) => semver.valid(name) === name)) {
      const binary = NAMES.map((name) => join(directory, version, name)).find(isExecutable)
      if (binary) found.set(version, binary)
    }
    return found
  }

  /** Runs that want the same version at the same moment wait for one download. */
  #download(mirror: string, version: string): Promise<void> {
    const known = this.#downloads.get(version)
    if (known) return known
    const download = downloadEngine(mirror, version, this.#sources.directory).finally(() =>
      this.#downloads.delete(version),
    )
    this.#downloads.set(version, download)
    return download
  }

  #explain(setting: string, here: readonly string[]): string {
    const { directory, mirror } = this.#sources
    const known = here.length > 0 ? `here are ${[...here].sort(semver.compare).join(', ')}` : 'here is none'
    const where = mirror ? `, and ${mirror} has none that will do` : ''
    return `engine version ${setting || 'latest'} is not available; ${known}${where}. Put it into ${join(directory, '<version>', 'terraform')}, configure a mirror, or change the version of the workspace`
  }
}

async function listValid(mirror: string): Promise<string[]> {
  return (await listMirror(mirror)).filter((version) => semver.valid(version) === version)
}

async function askVersion(binary: string): Promise<EngineBinary> {
  const env = { PATH: SYSTEM_PATH, HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' }
  const { stdout } = await promisify(execFile)(binary, ['version', '-json'], { env, timeout: 30_000 })
  return { version: JSON.parse(stdout).terraform_version, binary }
}
