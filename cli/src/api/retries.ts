import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../errors.ts'

/** A failure that may pass: no connection, a server that is busy or broken for now. */
export class Transient extends CliError {
  override name = 'Transient'
  /** Milliseconds that the server asks to wait. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    options: { details?: string[]; cause?: unknown; retryAfter?: number | undefined } = {},
  ) {
    super('transport', message, options)
    this.retryAfter = options.retryAfter
  }
}

/** Before the second attempt; it doubles until it reaches the longest. */
const FIRST_DELAY_MS = 300
const LONGEST_DELAY_MS = 10_000

/** A server that asks for more than this is not waited for. */
const PATIENCE_MS = 120_000

export interface Retries {
  /** How often to try again. */
  retries: number
  signal: AbortSignal
  onRetry: (reason: string, delayMs: number) => void
}

/** Tries again what fails for a `Transient` reason, after longer and longer pauses. */
export async function withRetries<T>(
  { retries, signal, onRetry }: Retries,
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    signal.throwIfAborted()
    try {
      return await attempt(number)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Transient) || number > retries) throw error
      const delay = error.retryAfter ?? backoff(number)
      if (delay > PATIENCE_MS) throw error
      onRetry(error.message, delay)
      await sleep(delay, undefined, { signal })
    }
  }
}

/** With chance in it, so that many who were turned away together do not come back together. */
function backoff(attempt: number): number {
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
  return Math.round(delay * (0.5 + Math.random() / 2))
}

/** Milliseconds of a Retry-After header, which is in seconds or a date. */
export function retryAfterOf(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

const CERTIFICATES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS/

/** What to throw for a request that had no answer. */
export function explainConnection(error: unknown, host: string): CliError {
  const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException
  const reason = (typeof cause.code === 'string' && cause.code) || cause.message
  if (CERTIFICATES.test(reason)) {
    return new CliError('transport', `the certificate of ${host} is not trusted (${reason})`, {
      advice: 'Name the PEM file of its authority in NODE_EXTRA_CA_CERTS, or set NODE_USE_SYSTEM_CA=1.',
      cause: error,
    })
  }
  if (cause.code === 'ENOTFOUND') {
    return new CliError('transport', `there is no host ${host}`, { cause: error })
  }
  return new Transient(`the connection to ${host} failed (${reason})`, { cause: error })
}
