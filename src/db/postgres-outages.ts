import pg from 'pg'
import { AppError, storageFull } from '../lib/errors.ts'
import { AWAY } from './outages.ts'

// As outages.ts for SQLite; apart from it, so that nobody loads a driver that is not used.

const UNKNOWN = 'The database went away while it saved the change. Look whether it was saved, then try again.'

const POSTGRES_DISK_FULL = '53100'

/** Connection lost, server stopping or starting, out of resources, standby that only reads. */
const POSTGRES_AWAY = /^(08|57P|53)|^25006$/

/** What to throw in place of an error of a statement on PostgreSQL; the same for one of a `commit`. */
export function postgresOutage(cause: unknown, { committing = false } = {}): unknown {
  const away = new AppError('unavailable', committing ? UNKNOWN : AWAY, { cause })
  if (cause instanceof pg.DatabaseError) {
    const { code = '' } = cause
    if (code === POSTGRES_DISK_FULL) return storageFull(cause)
    return POSTGRES_AWAY.test(code) ? away : cause
  }
  // What the server did not say, the connection did, unless a parameter could not be encoded.
  return cause instanceof TypeError || cause instanceof RangeError ? cause : away
}

/** What to throw when there is no connection to be had, for whatever reason. */
export function noConnection(cause: unknown): AppError {
  return new AppError('unavailable', AWAY, { cause })
}
