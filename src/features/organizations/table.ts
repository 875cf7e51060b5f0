import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface OrganizationTable {
  id: Immutable<string>
  name: string
  email: string
  collaboratorAuthPolicy: 'password' | 'two_factor_mandatory'
  /** Minutes. */
  sessionTimeout: number | null
  /** Minutes. */
  sessionRemember: number | null
  costEstimationEnabled: boolean
  assessmentsEnforced: boolean
  allowForceDeleteWorkspaces: boolean
  speculativePlanManagementEnabled: boolean
  aggregatedCommitStatusEnabled: boolean
  sendPassingStatuses: boolean
  defaultExecutionMode: string
  defaultProjectId: string | null
  defaultAgentPoolId: string | null
  /** Whether a deleted provider version may be made again with other contents. */
  providerVersionReuseEnabled: boolean
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
