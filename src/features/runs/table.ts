import type { Immutable, Timestamp } from '../../db/columns.ts'

import type { RunStatus } from './status.ts'

export interface RunTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  workspaceId: Immutable<string>
  configurationVersionId: Immutable<string>
  /** Set by `status.ts` only. */
  status: RunStatus
  /** JSON object of timestamps, such as `planned-at`; set with the status. */
  statusTimestamps: string
  /** What made it, such as `tfe-api` or `terraform+cloud`. */
  source: Immutable<string>
  triggerReason: Immutable<string>
  message: Immutable<string>
  /** The workspace's at the time: a version, a constraint or `latest`; the exact version once it is known. */
  terraformVersion: string
  executionMode: Immutable<'remote' | 'agent'>
  agentPoolId: Immutable<string | null>
  isDestroy: Immutable<boolean>
  refresh: Immutable<boolean>
  refreshOnly: Immutable<boolean>
  planOnly: Immutable<boolean>
  savePlan: Immutable<boolean>
  autoApply: Immutable<boolean>
  allowEmptyApply: Immutable<boolean>
  allowConfigGeneration: Immutable<boolean>
  debuggingMode: Immutable<boolean>
  /** Whether logs are JSON lines, which the `cloud` block of the CLI renders. */
  structuredOutput: Immutable<boolean>
  /** JSON array of strings. */
  targetAddrs: Immutable<string>
  /** JSON array of strings. */
  replaceAddrs: Immutable<string>
  /** Sealed JSON array of `{ key, value }`, the values being expressions of HCL. */
  variables: Immutable<string>
  hasChanges: boolean
  /** When somebody asked for it to be canceled. */
  canceledAt: Timestamp | null
  createdByUserId: Immutable<string | null>
  createdByTeamId: Immutable<string | null>
  confirmedByUserId: string | null
  createdAt: Immutable<Timestamp>
}
