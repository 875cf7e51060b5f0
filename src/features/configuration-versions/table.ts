import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface ConfigurationVersionTable {
  id: Immutable<string>
  workspaceId: Immutable<string>
  status: ConfigurationStatus
  /** JSON object of timestamps, such as `uploaded-at`. */
  statusTimestamps: string
  /** What made it, such as `tfe-api` or `terraform+cloud`. */
  source: Immutable<string>
  /** Only for plans that are not applied. */
  speculative: Immutable<boolean>
  /** Not the workspace's current one until a run with it is applied. */
  provisional: boolean
  autoQueueRuns: Immutable<boolean>
  error: string | null
  errorMessage: string | null
  /** The archive, a gzipped tar, sealed. */
  blobKey: string | null
  createdByUserId: Immutable<string | null>
  createdByTeamId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}

/** Those whose name begins with `backing_data` say that the archive is going, or gone. */
export type ConfigurationStatus =
  | 'pending'
  | 'uploaded'
  | 'errored'
  | 'archived'
  | 'backing_data_soft_deleted'
  | 'backing_data_permanently_deleted'
