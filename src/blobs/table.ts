import type { ColumnType } from 'kysely'
import type { Immutable, Timestamp } from '../db/columns.ts'

/** What is known of a stored blob; written in the transaction that makes it part of something. */
export interface BlobTable {
  key: Immutable<string>
  /** Bytes. */
  size: Immutable<number>
  /** Hexadecimal. */
  sha256: Immutable<string>
  createdAt: Immutable<Timestamp>
  /** Whether the bytes are encrypted where they lie; size and digest are those of the plain ones. */
  sealed: ColumnType<boolean, boolean | undefined, never>
  /** The workspace that it goes with, if any. */
  workspaceId: Immutable<string | null>
}
