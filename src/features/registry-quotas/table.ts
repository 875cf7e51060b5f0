import type { Immutable, Timestamp } from '../../db/columns.ts'

/** What a site administrator allows one organization instead of what the configuration says. */
export interface RegistryQuotaTable {
  organizationId: Immutable<string>
  /** 0 is no limit. */
  bytes: number
  updatedAt: Timestamp
}
