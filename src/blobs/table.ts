import type { Immutable, Timestamp } from '../db/columns.ts'

/** What is known of a stored blob; written in the transaction that makes it part of something. */
export interface BlobTable {
  key: Immutable<string>
  /** Bytes. */
  size: Immutable<number>
  /** Hexadecimal. */
  sha256: Immutable<string>
  createdAt: Immutable<Timestamp>
  /** The workspace that it goes with, if any. */
  workspaceId: Immutable<string | null>
}
