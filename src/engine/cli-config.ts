import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { ProviderMirror } from './channel.ts'
import { quoteHcl } from './hcl.ts'

/** How long a host's description of its services is waited for. */
const DISCOVERY_MS = 5_000

const MAX_DISCOVERY_BYTES = 1 << 20

export interface CliSettings {
  serverUrl: string
  token: string
  mirror: ProviderMirror | undefined
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

/** The engine's own configuration: how it reaches registries, and where it finds providers. */
export async function makeCliConfig(settings: CliSettings): Promise<string> {
  const { serverUrl, mirror } = settings
  const { host } = new URL(serverUrl)
  const mirrored = mirror?.hosts.filter((each) => each.host !== host) ?? []
  return [
    'disable_checkpoint = true',
    `plugin_cache_dir = ${quoteHcl(settings.plugins)}`,
    'plugin_cache_may_break_dependency_lock_file = true',
    `credentials ${quoteHcl(host)} {\n  token = ${quoteHcl(settings.token)}\n}`,
    await describeServer(serverUrl),
    ...(await Promise.all(mirrored.map(describeMirrored))),
    await describeInstallation(settings),
    '',
  ].join('\n')
}

/** The engine discovers services by HTTPS only; for a server without it, this is done here. */
async function describeServer(serverUrl: string): Promise<string> {
  if (!serverUrl.startsWith('http:')) return ''
  const { origin, host } = new URL(serverUrl)
  return describeHost(host, (await discover(origin)) ?? {})
}

/** Public registries have their modules there. */
const USUAL_MODULES = '/v1/modules/'

/**
 * A host whose providers come from the mirror. The engine discovers nothing of a host that is described to it, so all
 * else that the host offers is told as well.
 */
async function describeMirrored({ host, providers }: ProviderMirror['hosts'][number]): Promise<string> {
  const origin = `https://${host}`
  const services = (await discover(origin)) ?? { 'modules.v1': origin + USUAL_MODULES }
  return describeHost(host, { ...services, 'providers.v1': providers })
}

function describeHost(host: string, services: Record<string, string>): string {
  const lines = Object.entries(services).map(([name, url]) => `    ${quoteHcl(name)} = ${quoteHcl(url)}\n`)
  return `host ${quoteHcl(host)} {\n  services = {\n${lines.join('')}  }\n}`
}

/** The addresses of the services of a host; undefined when it does not tell. */
async function discover(origin: string): Promise<Record<string, string> | undefined> {
  const address = new URL('/.well-known/terraform.json', origin)
  const services = await fetch(address, { signal: AbortSignal.timeout(DISCOVERY_MS) })
    .then((response) => (response.ok ? readServices(response) : undefined))
    .catch(() => undefined)
  if (typeof services !== 'object' || services === null) return undefined
  const addresses = Object.entries(services).flatMap(([name, path]) => {
    const url = typeof path === 'string' ? URL.parse(path, address.href) : null
    return url && SERVICE.test(name) ? [[name, url.href] as const] : []
  })
  return Object.fromEntries(addresses)
}

const SERVICE = /^[a-z0-9-]+\.v[0-9.]+$/

/** Whoever keeps a list of an organization chooses the hosts that are asked. */
async function readServices({ body }: Response): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    if (size > MAX_DISCOVERY_BYTES) return undefined
    pieces.push(piece)
  }
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}

/**
 * Always there: without it the engine would also look where variables of the run can lead it. A run that is kept to a
 * list has the providers on it, and those of the server's own registry.
 */
async function describeInstallation(settings: CliSettings): Promise<string> {
  const { serverUrl, mirror, providersDir, bundled } = settings
  const isAllowed = allowedBy(mirror)
  const kept = providersDir ? await listProviders(providersDir) : []
  const own = bundled ? (await listProviders(bundled)).filter(isAllowed) : []
  const only = mirror?.others === false ? [`${new URL(serverUrl).host}/*/*`, ...mirror.allowed] : undefined
  const method = (name: string, parts: string[]) =>
    `  ${name} {\n${parts.map((part) => `    ${part}\n`).join('')}  }\n`
  const list = (name: string, patterns: string[]) => `${name} = ${JSON.stringify(patterns)}`
  const files = (path: string, include: string[]) =>
    method('filesystem_mirror', [`path = ${quoteHcl(path)}`, list('include', include)])
  return [
    'provider_installation {\n',
    ...(providersDir && kept.length > 0 ? [files(providersDir, kept)] : []),
    ...(bundled && own.length > 0 ? [files(bundled, own)] : []),
    method('direct', [...(only ? [list('include', only)] : []), list('exclude', [...kept, ...own])]),
    '}',
  ].join('')
}

/** Of providers as `<host>/<namespace>/<type>`: what comes with a configuration is kept to the list, too. */
function allowedBy(mirror: ProviderMirror | undefined): (provider: string) => boolean {
  if (mirror?.others !== false) return () => true
  return (provider) => {
    const [host, namespace] = provider.toLowerCase().split('/')
    const patterns = [provider.toLowerCase(), `${host}/${namespace}/*`, `${host}/*/*`]
    return patterns.some((pattern) => mirror.allowed.includes(pattern))
  }
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
