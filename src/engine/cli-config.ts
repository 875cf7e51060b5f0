import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { quoteHcl } from './hcl.ts'

/** How long the server's own description of its services is waited for. */
const DISCOVERY_MS = 5_000

export interface CliSettings {
  serverUrl: string
  token: string
  plugins: string
  /** Providers that the operator keeps, as `<host>/<namespace>/<type>/…`. */
  providersDir: string | undefined
  /** Providers that came with the configuration. */
  bundled: string | undefined
}

/** Where a configuration may bring its own providers. */
export function bundledProviders(cwd: string): string | undefined {
  const path = join(cwd, 'terraform.d/plugins')
  return existsSync(path) ? path : undefined
}

/** The engine's own configuration: how it reaches the platform's registry, and where it finds providers. */
export async function makeCliConfig(settings: CliSettings): Promise<string> {
  const { host } = new URL(settings.serverUrl)
  return [
    'disable_checkpoint = true',
    `plugin_cache_dir = ${quoteHcl(settings.plugins)}`,
    'plugin_cache_may_break_dependency_lock_file = true',
    `credentials ${quoteHcl(host)} {\n  token = ${quoteHcl(settings.token)}\n}`,
    await describeHost(settings.serverUrl),
    await describeInstallation(settings),
    '',
  ].join('\n')
}

/** The engine discovers services by HTTPS only; for a server without it, this is done here. */
async function describeHost(serverUrl: string): Promise<string> {
  if (!serverUrl.startsWith('http:')) return ''
  const address = new URL('/.well-known/terraform.json', serverUrl)
  const services = await fetch(address, { signal: AbortSignal.timeout(DISCOVERY_MS) })
    .then((response) => (response.ok ? response.json() : {}))
    .catch(() => ({}))
  const lines = Object.entries(services as Record<string, unknown>)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .map(([name, path]) => `    ${quoteHcl(name)} = ${quoteHcl(new URL(path, address).href)}\n`)
  return `host ${quoteHcl(address.host)} {\n  services = {\n${lines.join('')}  }\n}`
}

/** Always there: without it the engine would also look where variables of the run can lead it. */
async function describeInstallation({ providersDir, bundled }: CliSettings): Promise<string> {
  const kept = providersDir ? await listProviders(providersDir) : []
  const mirror = (path: string, include?: string[]) =>
    `  filesystem_mirror {\n    path = ${quoteHcl(path)}\n${include ? `    include = ${JSON.stringify(include)}\n` : ''}  }\n`
  const own = bundled ? await listProviders(bundled) : []
  return [
    'provider_installation {\n',
    ...(providersDir && kept.length > 0 ? [mirror(providersDir, kept)] : []),
    ...(bundled && own.length > 0 ? [mirror(bundled, own)] : []),
    `  direct {\n    exclude = ${JSON.stringify([...kept, ...own])}\n  }\n}`,
  ].join('')
}

/** The providers in a directory, as `<host>/<namespace>/<type>`. */
async function listProviders(directory: string): Promise<string[]> {
  let found = ['']
  for (const _level of ['host', 'namespace', 'type']) {
    const below = found.map(async (path) => {
      const names = await readdir(join(directory, path)).catch(() => [])
      return names.map((name) => posix.join(path, name))
    })
    found = (await Promise.all(below)).flat()
  }
  return found
}
