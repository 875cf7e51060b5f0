import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface TeamTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  name: string
  ssoTeamId: string | null
  visibility: 'secret' | 'organization'
  isOwners: Immutable<boolean>
  allowMemberTokenManagement: boolean
  /** JSON array of the grants that are on. */
  organizationAccess: string
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}

export interface TeamMembershipTable {
  teamId: Immutable<string>
  membershipId: Immutable<string>
}
