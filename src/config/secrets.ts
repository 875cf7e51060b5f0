import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { isAlive } from '../lib/processes.ts'
import { ConfigError } from './config.ts'
import { parseMirrorTokens } from './mirror.ts'

/** Secrets of the server, apart from the configuration so that nothing prints them with it. */
export interface Secrets {
  /** The first site admin's token when the operator chose it. */
  adminToken: string | undefined
  /** What a scraper of metrics has to present. */
  metricsToken: string | undefined
  /** What upstreams of the provider mirror have to be shown, by host. */
  mirrorTokens: ReadonlyMap<string, string>
  /** A key for one purpose, derived from the server's secret key. */
  derive: (purpose: string) => Buffer
  /** The same of the keys that it replaced. */
  deriveOld: (purpose: string) => Buffer[]
  /** Keys that seal what is stored: the current one, then those that it replaced. */
  vaultKeys: readonly [Buffer, ...Buffer[]]
}

/**
 * Reads `PLINTH_ADMIN_TOKEN`, `PLINTH_METRICS_TOKEN`, `PLINTH_MIRROR_TOKENS`, `PLINTH_OLD_SECRET_KEYS` and
 * `PLINTH_SECRET_KEY`; without the last a key is made at the first start and kept in the data directory, readable by its owner only.
 */
export function readSecrets(environment: Record<string, string | undefined>, dataDir: string): Secrets {
  const adminToken = environment['PLINTH_ADMIN_TOKEN'] || undefined
  if (adminToken && !/^[\x21-\x7e]{8,256}$/.test(adminToken)) {
    throw new ConfigError('PLINTH_ADMIN_TOKEN must be 8 to 256 printable characters without spaces')
  }
  const metricsToken = environment['PLINTH_METRICS_TOKEN'] || undefined
  if (metricsToken && metricsToken.length < 16) {
    throw new ConfigError('PLINTH_METRICS_TOKEN must have at least 16 characters')
  }
  const mirrorTokens = parseMirrorTokens(environment['PLINTH_MIRROR_TOKENS'] ?? '')
  if (!mirrorTokens) {
    throw new ConfigError('PLINTH_MIRROR_TOKENS must be tokens as host=TOKEN, separated by commas or spaces')
  }
  const key = readKey(environment['PLINTH_SECRET_KEY'], dataDir)
  const oldKeys = readOldKeys(environment['PLINTH_OLD_SECRET_KEYS'])
  return {
    adminToken,
    metricsToken,
    mirrorTokens,
    derive: (purpose) => derive(key, purpose),
    deriveOld: (purpose) => oldKeys.map((old) => derive(old, purpose)),
    vaultKeys: [derive(key, 'vault'), ...oldKeys.map((old) => derive(old, 'vault'))],
  }
}

/** The keys that seal what is stored, as they are: none is made where there is none. */
export function readVaultKeys(
  environment: Record<string, string | undefined>,
  dataDir: string,
): Secrets['vaultKeys'] {
  const file = secretKeyFile(environment, dataDir)
  if (file && !existsSync(file))
    throw new ConfigError(`There is no secret key: neither PLINTH_SECRET_KEY, as for the server, nor ${file}`)
  return readSecrets(environment, dataDir).vaultKeys
}

function derive(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `plinth ${purpose}`, 32))
}

function readOldKeys(text: string | undefined): Buffer[] {
  const keys = (text ?? '').split(',').flatMap((key) => key.trim() || [])
  if (keys.some((key) => key.length < 32))
    throw new ConfigError(
      'PLINTH_OLD_SECRET_KEYS must be keys of at least 32 characters, separated by commas',
    )
  return keys.map((key) => Buffer.from(key))
}

/** Where the secret key is kept, unless the operator chose it. */
export function secretKeyFile(
  environment: Record<string, string | undefined>,
  dataDir: string,
): string | undefined {
  return environment['PLINTH_SECRET_KEY'] ? undefined : join(dataDir, 'secret-key')
}

function readKey(configured: string | undefined, dataDir: string): Buffer {
  if (configured) {
    if (configured.length < 32) throw new ConfigError('PLINTH_SECRET_KEY must have at least 32 characters')
    return Buffer.from(configured)
  }
  return Buffer.from(
    secretFile(join(dataDir, 'secret-key'), () => randomBytes(32).toString('base64url')).text,
  )
}

/** The text of the file at `path`, made with `create` (mode 0600) when there is none. */
export function secretFile(path: string, create: () => string): { text: string; created: boolean } {
  removeDrafts(path)
  if (existsSync(path)) return { text: readFileSync(path, 'utf8').trim(), created: false }
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  const text = create()
  // Linked into place when it is whole: a crash must not leave half a secret.
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flush: true })
  linkSync(draft, path)
  rmSync(draft)
  return { text, created: true }
}

/** Drafts of processes that were killed before they could remove them; each holds a secret. */
function removeDrafts(path: string): void {
  const directory = dirname(path)
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) {
    const pid = name.startsWith(`${basename(path)}.`) ? Number(extname(name).slice(1)) : Number.NaN
    if (pid > 0 && (pid === process.pid || !isAlive(pid))) rmSync(join(directory, name))
  }
}
