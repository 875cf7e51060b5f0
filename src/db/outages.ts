import pg from 'pg'
import { AppError, storageFull } from '../lib/errors.ts'

// The drivers say here, and nowhere else, which errors mean that the database is full or away: conditions that
// pass, and that the caller is told of, as opposed to mistakes of ours.

const AWAY = 'The database does not answer. Try again in a few seconds.'
const LOCKED = 'The database is locked by another process. Try again in a few seconds.'
const UNDONE = 'The database undid this change together with one that failed beside it. Try again.'
const UNKNOWN = 'The database went away while it saved the change. Look whether it was saved, then try again.'

/** Primary result codes of SQLite; extended ones hold them in their lowest byte. */
const SQLITE = { busy: 5, ioError: 10, full: 13, cannotOpen: 14 }

/** The shared memory beside the database could not grow, which nothing but a full disk causes. */
const SQLITE_IOERR_SHMSIZE = 4874

/** Whether another process holds the lock that a write needs. */
export function isSqliteBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE.busy
}

/** What to throw in place of an error of SQLite: an outage where it is one, itself otherwise. */
export function sqliteOutage(cause: unknown): unknown {
  const code = primaryCode(cause)
  if (code === SQLITE.full || (cause as { errcode?: number }).errcode === SQLITE_IOERR_SHMSIZE) {
    return storageFull(cause)
  }
  if (code === SQLITE.busy) return new AppError('unavailable', LOCKED, { cause })
  const isAway = code === SQLITE.ioError || code === SQLITE.cannotOpen
  return isAway ? new AppError('unavailable', AWAY, { cause }) : cause
}

function primaryCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff
}

/** For a transaction that shared the fate of another: some errors make SQLite roll back all that is open. */
export function undone(): AppError {
  return new AppError('unavailable', UNDONE)
}

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
