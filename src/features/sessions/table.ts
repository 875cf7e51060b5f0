import type { Immutable, Timestamp } from '../../db/columns.ts'

/** A browser in which somebody is signed in. */
export interface SessionTable {
  id: Immutable<string>
  /** SHA-256 of the cookie's value, hexadecimal. */
  hash: Immutable<string>
  userId: Immutable<string>
  /** The token it was opened with, if it was one: the session ends with it. */
  tokenId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
  /** When it ends unless it is used before. */
  idleAt: Timestamp
  /** When it ends in any case. */
  expiresAt: Immutable<Timestamp>
}
