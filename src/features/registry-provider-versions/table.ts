import type { Immutable, Timestamp } from '../../db/columns.ts'

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
  createdAt: Immutable<Timestamp>
}
