import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface SignInAttemptTable {
  /** Hash of whom the attempts were about, or where they came from; people type passwords into name fields. */
  key: Immutable<string>
  /** Attempts that did not succeed, or whose end is not known yet. */
  count: number
  blockedUntil: Timestamp
  forgottenAt: Timestamp
}
