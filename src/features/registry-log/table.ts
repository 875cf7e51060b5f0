import type { Immutable, Timestamp } from '../../db/columns.ts'

/** What signs the records; the one with the highest serial signs new ones. */
export interface RegistryLogKeyTable {
  id: Immutable<string>
  serial: Immutable<number>
  /** SubjectPublicKeyInfo, base64. */
  publicKey: Immutable<string>
  /** PKCS #8 in base64, sealed. */
  privateKey: string
  createdAt: Immutable<Timestamp>
}

/** Where the log of an organization ends. */
export interface RegistryLogHeadTable {
  organizationId: Immutable<string>
  sequence: number
  /** Of the record with that number. */
  hash: string
}

export interface RegistryLogRecordTable {
  organizationId: Immutable<string>
  sequence: Immutable<number>
  /** JSON of all that is hashed. */
  content: Immutable<string>
  hash: Immutable<string>
  signature: Immutable<string>
  /** The rest says what the record is about, for those who look for it. */
  kind: Immutable<string>
  name: Immutable<string>
  system: Immutable<string | null>
}
