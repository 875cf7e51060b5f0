import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface AuditEventTable {
  id: Immutable<string>
  organizationId: Immutable<string | null>
  action: Immutable<string>
  resourceType: Immutable<string>
  resourceId: Immutable<string>
  /** JSON object: what else there is to know, in the API's spelling. */
  meta: Immutable<string>
  accessorType: Immutable<string>
  accessorId: Immutable<string | null>
  requestId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}
