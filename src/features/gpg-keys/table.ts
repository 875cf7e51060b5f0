import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface GpgKeyTable {
  /** A decimal number, as text. */
  id: Immutable<string>
  organizationId: string
  /** Low 64 bits of the primary key's fingerprint, upper-case hexadecimal. */
  keyId: Immutable<string>
  /** Upper-case hexadecimal. */
  fingerprint: Immutable<string>
  /** As uploaded, byte for byte. */
  asciiArmor: Immutable<string>
  /** Null for never. */
  expiresAt: Immutable<Timestamp | null>
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
