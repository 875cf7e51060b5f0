import type { Immutable, Timestamp } from '../../db/columns.ts'
import type { VersionStatus } from './status.ts'

export interface RegistryProviderVersionTable {
  id: Immutable<string>
  providerId: Immutable<string>
  version: Immutable<string>
  /** JSON array such as ["5.0"]. */
  protocols: Immutable<string>
  keyId: Immutable<string>
  /** The signing key as it was when the version was created: deleting the key leaves it installable. */
  asciiArmor: Immutable<string>
  /** When that key expires; null for never. */
  keyExpiresAt: Immutable<Timestamp | null>
  shasumsBlob: string | null
  signatureBlob: string | null
  status: VersionStatus
  publishedAt: Timestamp | null
  /** Also of a version that is revoked: what it goes back to. */
  deprecatedAt: Timestamp | null
  deprecationReason: string | null
  deprecationLink: string | null
  revokedAt: Timestamp | null
  revocationMessage: string | null
  revocationLink: string | null
  createdById: Immutable<string | null>
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}

/** A released archive that was deleted; its name may only ever mean these bytes. */
export interface RegistryProviderTombstoneTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  /** Lower case. */
  providerName: Immutable<string>
  version: Immutable<string>
  os: Immutable<string>
  arch: Immutable<string>
  shasum: Immutable<string>
  /** The version was revoked when this was deleted. */
  revoked: boolean
  createdAt: Immutable<Timestamp>
}
