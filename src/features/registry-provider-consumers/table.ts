import type { Immutable, Timestamp } from '../../db/columns.ts'

/** Who downloaded the archive of a platform, and how often. */
export interface RegistryProviderDownloadTable {
  platformId: Immutable<string>
  /** `workspace` for the runs of one. */
  subjectKind: Immutable<'user' | 'team' | 'organization' | 'workspace' | 'unknown'>
  subjectId: Immutable<string>
  count: number
  lastAt: Timestamp
}
