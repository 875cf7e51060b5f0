import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface WorkspaceTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  projectId: string
  name: string
  description: string | null
  executionMode: 'remote' | 'local' | 'agent'
  /** Whether the execution mode is the workspace's own rather than its organization's. */
  overwritesExecutionMode: boolean
  terraformVersion: string
  workingDirectory: string
  autoApply: boolean
  autoApplyRunTrigger: boolean
  allowDestroyPlan: boolean
  assessmentsEnabled: boolean
  fileTriggersEnabled: boolean
  globalRemoteState: boolean
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
  locked: boolean
  lockedReason: string | null
  lockedByUserId: string | null
  lockedByTeamId: string | null
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
