import type { Immutable, Timestamp } from '../../db/columns.ts'

/** As the public API calls them: `reg_ingress_failed` says that what was uploaded last was refused. */
export type ModuleVersionStatus = 'pending' | 'reg_ingress_failed' | 'ok'

export interface RegistryModuleVersionTable {
  id: Immutable<string>
  moduleId: Immutable<string>
  version: Immutable<string>
  status: ModuleVersionStatus
  /** Why the last upload was refused. */
  error: string | null
  commitSha: Immutable<string | null>
  /** The archive, a gzipped tar; it never changes. */
  archiveBlob: string | null
  /** JSON array of what could not be read of it. */
  warnings: string
  publishedAt: Timestamp | null
  deprecatedAt: Timestamp | null
  deprecationReason: string | null
  deprecationLink: string | null
  createdById: Immutable<string | null>
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}

/** What the archive of a version says of the module. */
export interface RegistryModuleDescriptionTable {
  versionId: Immutable<string>
  /** JSON of a `ModuleDescription`. */
  content: Immutable<string>
}

/** How often the archive of a version was downloaded. */
export interface RegistryModuleDownloadTable {
  versionId: Immutable<string>
  count: number
}

/** A published archive that was deleted; its version may only ever mean these bytes. */
export interface RegistryModuleTombstoneTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** Lower case. */
  name: Immutable<string>
  provider: Immutable<string>
  version: Immutable<string>
  sha256: Immutable<string>
  createdAt: Immutable<Timestamp>
}
