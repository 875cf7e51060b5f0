import { hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './config.ts'

/** Secrets of the server, apart from the configuration so that nothing prints them with it. */
export interface Secrets {
  /** The first site admin's token when the operator chose it. */
  adminToken: string | undefined
  /** A key for one purpose, derived from the server's secret key. */
  derive: (purpose: string) => Buffer
}

/**
 * Reads `PLINTH_ADMIN_TOKEN` and `PLINTH_SECRET_KEY`; without the latter a key is made at the first start
 * and kept in the data directory, readable by its owner only.
 */
export function readSecrets(environment: Record<string, string | undefined>, dataDir: string): Secrets {
  const adminToken = environment['PLINTH_ADMIN_TOKEN'] || undefined
  if (adminToken && !/^[\x21-\x7e]{16,256}$/.test(adminToken)) {
    throw new ConfigError('PLINTH_ADMIN_TOKEN must be 16 to 256 printable characters without spaces')
  }
  const key = readKey(environment['PLINTH_SECRET_KEY'], dataDir)
  return {
    adminToken,
    derive: (purpose) => Buffer.from(hkdfSync('sha256', key, '', `plinth ${purpose}`, 32)),
  }
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
  if (existsSync(path)) return { text: readFileSync(path, 'utf8').trim(), created: false }
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  const text = create()
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return { text, created: true }
}
