import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface OrganizationMembershipTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** Null until a user with the invited address exists. */
  userId: string | null
  email: Immutable<string>
  status: 'active' | 'invited'
  createdAt: Immutable<Timestamp>
}
