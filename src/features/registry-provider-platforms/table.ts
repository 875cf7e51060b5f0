import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface RegistryProviderPlatformTable {
  id: Immutable<string>
  versionId: Immutable<string>
  os: Immutable<string>
  arch: Immutable<string>
  filename: Immutable<string>
  /** SHA-256 of the archive, lower-case hexadecimal. */
  shasum: Immutable<string>
  binaryBlob: string | null
  /** The `h1:` hash of the archive's contents, as lock files record it; known once that is uploaded. */
  packageHash: string | null
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
