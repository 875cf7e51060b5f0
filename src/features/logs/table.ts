import type { Immutable } from '../../db/columns.ts'

/** The log of a plan or an apply, whose id it has. */
export interface LogTable {
  id: Immutable<string>
  runId: Immutable<string>
  /** Bytes. */
  length: number
  /** Bytes that the worker who is at it has handed over, among them. */
  written: number
  ended: boolean
  /** All of it, once it has ended and was moved out of the database. */
  blobKey: string | null
}

/** A part of a log, as it was written. */
export interface LogChunkTable {
  logId: Immutable<string>
  /** Bytes of the log before it. */
  start: Immutable<number>
  /** Bytes. */
  length: Immutable<number>
  text: Immutable<string>
}
