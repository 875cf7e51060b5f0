import type { SandboxKind } from './sandbox.ts'
import type { Engines } from './versions.ts'

/** Where a worker tells what those who run it must know; a logger of pino is one. */
export interface WorkerLog {
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
  error: (fields: object, message: string) => void
}

/** How runs are carried out on this machine. */
export interface EngineOptions {
  /** Where every run has its directory. The same on every worker of a pool, where configurations use absolute paths. */
  workDir: string
  engines: Engines
  log: WorkerLog
  sandbox: SandboxKind
  /** Where providers are kept for all runs. */
  pluginCacheDir: string
  /** Providers that the operator keeps, as `<host>/<namespace>/<type>/…`; they are not looked for elsewhere. */
  providersDir?: string | undefined
  /** What every run gets in its environment from the operator, such as `SSL_CERT_FILE` or `HTTPS_PROXY`. */
  environment?: Record<string, string>
  /** How long an interrupted engine may take to end before it is killed. */
  graceMs?: number
  /** How long it is tried to save a state before it is kept apart. */
  saveMs?: number
  /** How long it is tried to keep it apart before it is left in `<workDir>/lost-states`. */
  keepMs?: number
}
