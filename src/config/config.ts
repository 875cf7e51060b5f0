import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import type { DatabaseLocation } from '../db/connect.ts'
import { OperatorError } from '../lib/errors.ts'
import { type MirrorConfig, readMirror } from './mirror.ts'
import { type Environment, parseUrl, type Read } from './reading.ts'

/** Everything an operator can set, typed. Secrets are apart, in `secrets.ts`. */
export interface Config {
  listen: { host: string; port: number }
  /** Public base URL without a slash at the end; undefined means it follows from the listener. */
  url: string | undefined
  dataDir: string
  database: DatabaseLocation
  blobs: { kind: 'file'; path: string }
  tls: { cert: string; key: string } | undefined
  /** Proxies that are believed where a request came from: addresses, and networks such as 10.0.0.0/8. */
  trustedProxies: string[]
  /** Requests per second and user; 0 is no limit. */
  rateLimit: number
  publicProviderCuration: boolean
  maxUploadBytes: number
  /** Bytes of the archive of a module. */
  maxModuleBytes: number
  /** Bytes that the registry stores for each organization unless it has a quota of its own; 0 is no limit. */
  registryQuotaBytes: number
  /** Days after which a provider version that nobody finished is removed; 0 is never. */
  abandonedDraftDays: number
  /** Bytes of a state, raw. */
  maxStateBytes: number
  /** Bytes of what programs write into the log of a plan or an apply. */
  maxLogBytes: number
  runs: RunConfig
  mirror: MirrorConfig
  /** A listener for nothing but metrics. */
  metricsListen: { host: string; port: number } | undefined
}

/** How runs are carried out. */
export interface RunConfig {
  /** Runs that this server carries out at the same moment; 0 leaves all of them to others. */
  workers: number
  /** Runs of one organization that are carried out at the same moment. */
  organizationConcurrency: number
  sandbox: 'auto' | 'bwrap' | 'none'
  /** Where runs have their directories, each of which is removed after its run. */
  workDir: string
  /** Where versions of the engine are kept, each in a directory named after it. */
  enginesDir: string
  /** Where versions that are not there are fetched from; undefined is nowhere. */
  engineMirror: string | undefined
  /** Where the engine of the machine is looked for, as in `PATH`. */
  enginePath: string
  /** Variables of the server's environment that runs get as well, such as those of a proxy. */
  environment: Record<string, string>
  /** Seconds after which a plan is stopped. */
  planTimeout: number
  /** Seconds after which an apply is stopped. */
  applyTimeout: number
}

/** Says what is wrong with the configuration, naming variables and never their values. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError'
}

/**
 * Reads the configuration from `environment`. Throws one `ConfigError` that names every variable that is
 * wrong. docs: the table in README.md.
 */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const read = readerOf(environment, problems)
  const dataDir = resolve(environment['PLINTH_DATA_DIR'] || './data')
  const config: Config = {
    listen: read('PLINTH_LISTEN', '127.0.0.1:8080', parseListen, 'host:port, such as 127.0.0.1:8080'),
    url: environment['PLINTH_URL']
      ? read('PLINTH_URL', '', parseUrl, 'an http:// or https:// URL without a query')
      : undefined,
    dataDir,
    database: read(
      'PLINTH_DATABASE_URL',
      `sqlite:${join(dataDir, 'plinth.db')}`,
      parseDatabase,
      'postgres://… or sqlite:PATH',
    ),
    blobs: read('PLINTH_BLOB_URL', `file:${join(dataDir, 'blobs')}`, parseBlobs, 'file:PATH'),
    tls: parseTls(environment, problems),
    trustedProxies: read(
      'PLINTH_TRUSTED_PROXIES',
      '',
      parseNetworks,
      'addresses or networks such as 10.0.0.0/8, separated by commas',
    ),
    rateLimit: read('PLINTH_RATE_LIMIT', '30', parseCount, 'a whole number of requests per second, or 0'),
    publicProviderCuration: read('PLINTH_PUBLIC_PROVIDER_CURATION', 'off', parseSwitch, 'on or off'),
    abandonedDraftDays: read('PLINTH_ABANDONED_DRAFT_DAYS', '30', parseCount, 'a whole number of days, or 0'),
    maxStateBytes: read(
      'PLINTH_MAX_STATE_BYTES',
      String(256 * 2 ** 20),
      parseCount,
      'a whole number of bytes',
    ),
    maxLogBytes: read('PLINTH_MAX_LOG_BYTES', String(64 * 2 ** 20), parseCount, 'a whole number of bytes'),
    registryQuotaBytes: read('PLINTH_REGISTRY_QUOTA_BYTES', '0', parseCount, 'a whole number of bytes, or 0'),
    maxModuleBytes: read(
      'PLINTH_MAX_MODULE_BYTES',
      String(64 * 2 ** 20),
      parseCount,
      'a whole number of bytes',
    ),
    runs: readRuns(environment, dataDir, read),
    metricsListen: environment['PLINTH_METRICS_LISTEN']
      ? read('PLINTH_METRICS_LISTEN', '', parseListen, 'host:port, such as 127.0.0.1:9090')
      : undefined,
    maxUploadBytes: read(
      'PLINTH_MAX_UPLOAD_BYTES',
      String(500 * 2 ** 20),
      parseCount,
      'a whole number of bytes',
    ),
    mirror: readMirror(environment, read),
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return config
}

/** Reads variables one by one; what is wrong with them goes to `problems`. */
export function readerOf(environment: Environment, problems: string[]): Read {
  return <T>(name: string, fallback: string, parse: (text: string) => T | undefined, rule: string): T => {
    const parsed = parse(environment[name] || fallback)
    if (parsed === undefined) problems.push(`${name} must be ${rule}`)
    return parsed as T
  }
}

/** How runs are carried out on this machine. */
export function readRuns(environment: Environment, dataDir: string, read: Read): RunConfig {
  return {
    workers: read('PLINTH_RUN_WORKERS', '2', parseCount, 'a whole number of runs'),
    organizationConcurrency: read(
      'PLINTH_ORGANIZATION_CONCURRENCY',
      '10',
      (text) => parseCount(text) || undefined,
      'a whole number of runs, at least 1',
    ),
    sandbox: read('PLINTH_SANDBOX', 'auto', parseSandbox, 'auto, bwrap or none'),
    workDir: resolve(environment['PLINTH_RUN_DIR'] || join(dataDir, 'runs')),
    enginesDir: resolve(environment['PLINTH_ENGINES_DIR'] || join(dataDir, 'engines')),
    engineMirror: environment['PLINTH_ENGINE_MIRROR']
      ? read('PLINTH_ENGINE_MIRROR', '', parseUrl, 'an http:// or https:// URL without a query')
      : undefined,
    enginePath: environment['PATH'] ?? '',
    environment: read(
      'PLINTH_RUN_ENVIRONMENT',
      '',
      (text) => pickVariables(environment, text),
      'names of environment variables, separated by commas',
    ),
    planTimeout: read('PLINTH_PLAN_TIMEOUT', '7200', parseCount, 'a whole number of seconds'),
    applyTimeout: read('PLINTH_APPLY_TIMEOUT', '86400', parseCount, 'a whole number of seconds'),
  }
}

function parseListen(text: string) {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:]+):(\d{1,5})$/.exec(text)
  if (!match || Number(match[2]) > 65_535) return undefined
  return { host: (match[1] as string).replace(/^\[|\]$/g, ''), port: Number(match[2]) }
}

function parseDatabase(text: string): DatabaseLocation | undefined {
  if (/^postgres(ql)?:\/\/./.test(text)) return { kind: 'postgres', url: text }
  if (/^sqlite:./.test(text)) return { kind: 'sqlite', path: resolve(text.slice('sqlite:'.length)) }
  return undefined
}

function parseBlobs(text: string): Config['blobs'] | undefined {
  return /^file:./.test(text) ? { kind: 'file', path: resolve(text.slice('file:'.length)) } : undefined
}

function parseTls(environment: Environment, problems: string[]): Config['tls'] {
  const cert = environment['PLINTH_TLS_CERT']
  const key = environment['PLINTH_TLS_KEY']
  if (!cert !== !key) problems.push('PLINTH_TLS_CERT and PLINTH_TLS_KEY must be set together')
  return cert && key ? { cert: resolve(cert), key: resolve(key) } : undefined
}

function parseNetworks(text: string): string[] | undefined {
  const networks = text.split(',').flatMap((network) => network.trim() || [])
  const isNetwork = (network: string) => {
    const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? []
    return isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128)
  }
  return networks.every(isNetwork) ? networks : undefined
}

function parseCount(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The variables of these names that are set. Those of the server itself are for no run. */
function pickVariables(environment: Environment, text: string): Record<string, string> | undefined {
  const names = text.split(',').flatMap((name) => name.trim() || [])
  if (names.some((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.startsWith('PLINTH_')))
    return undefined
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function parseSandbox(text: string): RunConfig['sandbox'] | undefined {
  return text === 'auto' || text === 'bwrap' || text === 'none' ? text : undefined
}

/** Whether it is on. */
export function parseSwitch(text: string): boolean | undefined {
  if (['on', 'true', '1'].includes(text)) return true
  return ['off', 'false', '0'].includes(text) ? false : undefined
}
