import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface WorkspaceTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  projectId: string
  name: string
  description: string | null
  /** Null where the project's or else the organization's applies. */
  executionMode: string | null
  terraformVersion: string
  workingDirectory: string
  autoApply: boolean
  autoApplyRunTrigger: boolean
  allowDestroyPlan: boolean
  assessmentsEnabled: boolean
  fileTriggersEnabled: boolean
  globalRemoteState: boolean
  projectRemoteState: boolean
  queueAllRuns: boolean
  speculativeEnabled: boolean
  structuredRunOutputEnabled: boolean
  /** JSON array of strings. */
  triggerPrefixes: string
  /** JSON array of strings. */
  triggerPatterns: string
  sourceName: string | null
  sourceUrl: string | null
  autoDestroyAt: Timestamp | null
  autoDestroyActivityDuration: string | null
  /** Whether the project's auto-destroy settings apply instead. */
  inheritsProjectAutoDestroy: boolean
  locked: boolean
  lockedReason: string | null
  lockedByUserId: string | null
  lockedByTeamId: string | null
  /** The run that changes its infrastructure now, and holds the lock for that. */
  lockedByRunId: string | null
  /** The last run that held the lock. */
  currentRunId: string | null
  /** Null where the project's or else the organization's applies. */
  agentPoolId: string | null
  sshKeyId: string | null
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
