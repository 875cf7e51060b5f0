import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface UserTable {
  id: Immutable<string>
  username: string
  email: string
  isSiteAdmin: boolean
  isServiceAccount: Immutable<boolean>
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
