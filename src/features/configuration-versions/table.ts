import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface ConfigurationVersionTable {
  id: Immutable<string>
  workspaceId: Immutable<string>
  status: 'pending' | 'uploaded' | 'errored' | 'archived'
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
  createdAt: Immutable<Timestamp>
}
