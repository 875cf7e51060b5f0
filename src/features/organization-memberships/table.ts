import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface OrganizationMembershipTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** Null until a user with the invited address exists. */
  userId: string | null
  /** Null once there is a user, whose address counts from then on. */
  invitedEmail: string | null
  createdAt: Immutable<Timestamp>
}
