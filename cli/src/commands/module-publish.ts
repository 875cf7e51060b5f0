import { basename, resolve } from 'node:path'
import { SEMVER } from '../../../src/lib/semver.ts'
import { CliError } from '../errors.ts'
import type { Io } from '../io.ts'
import { packModule } from '../module/pack.ts'
import { type ModulePublication, publishModule } from '../module/publish.ts'
import type { Observer } from '../observer.ts'
import { FindingsError } from '../release/findings-error.ts'
import type { Finding } from '../release/release.ts'
import { openSession, type SessionOptions, tellOfNewer } from './session.ts'

export interface ModulePublishOptions extends SessionOptions {
  name?: string
  /** The system that the module is for. */
  provider?: string
  version: string
  commit?: string
  dryRun?: boolean
}

export interface ModulePublishResult {
  name: string
  system: string
  version: string
  files: readonly string[]
  findings: Finding[]
  /** Undefined where nobody was asked for anything. */
  publication: ModulePublication | undefined
}

export async function modulePublish(
  directory: string,
  options: ModulePublishOptions,
  io: Io,
  observe: Observer,
): Promise<ModulePublishResult> {
  const named = nameOf(directory, options)
  const session = options.dryRun ? undefined : await openSession(options, io, observe)
  const { bytes, files, findings } = await packModule(directory)
  if (findings.some(({ severity }) => severity === 'error')) {
    throw new FindingsError(`${named.name} ${named.version}`, findings)
  }
  const result = { ...named, files, findings }
  if (!session) return { ...result, publication: undefined }
  for (const finding of findings) observe({ type: 'finding', finding })
  const { client, organization } = session
  await tellOfNewer(client, observe)
  const commit = options.commit || io.env['GITHUB_SHA'] || io.env['CI_COMMIT_SHA']
  const publication = await publishModule(client, { organization, ...named }, bytes, commit, observe)
  return { ...result, publication }
}

/** As it is named, or else as its directory is: `terraform-<system>-<name>`. */
function nameOf(directory: string, options: ModulePublishOptions) {
  const [, ofSystem, ofName] = /^terraform-([a-z0-9]+)-(.+)$/.exec(basename(resolve(directory))) ?? []
  const { name = ofName, provider: system = ofSystem } = options
  const version = options.version.replace(/^v(?=\d)/, '')
  if (!name || !system) {
    throw new CliError('usage', 'it is not said what the module is called', {
      advice: 'Add --name and --provider, or call its directory terraform-<PROVIDER>-<NAME>.',
    })
  }
  if (!new RegExp(SEMVER).test(version)) {
    throw new CliError('usage', `"${version}" is not a semantic version`, { advice: 'Say it like 1.2.3.' })
  }
  return { name, system, version }
}
