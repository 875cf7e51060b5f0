import { AppError, storageFull } from '../lib/errors.ts'

// The drivers say here and in postgres-outages.ts, and nowhere else, which errors mean that the database is full or
// away: conditions that pass, and that the caller is told of, as opposed to mistakes of ours.

/** What those are told who ask while the database is away. */
export const AWAY = 'The database does not answer. Try again in a few seconds.'
const LOCKED = 'The database is locked by another process. Try again in a few seconds.'
const UNDONE = 'The database undid this change together with one that failed beside it. Try again.'

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
