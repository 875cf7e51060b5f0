import type { Immutable, Timestamp } from '../../db/columns.ts'

/** Apart from the users, so that no list of users carries what must not leave the server. */
export interface PasswordTable {
  userId: Immutable<string>
  /** Argon2id with its parameters and salt, in the PHC string format. */
  hash: string
  updatedAt: Timestamp
}
