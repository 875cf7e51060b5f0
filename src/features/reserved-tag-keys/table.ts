import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface ReservedTagKeyTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  key: string
  disableOverrides: boolean
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
