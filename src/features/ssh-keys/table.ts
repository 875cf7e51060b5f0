import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface SshKeyTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  name: string
  /** The private key, sealed. */
  value: Immutable<string>
  createdAt: Immutable<Timestamp>
}
