import type { Immutable, Timestamp } from '../../db/columns.ts'

/** A version of the engine that runs may use. */
export interface TerraformVersionTable {
  id: Immutable<string>
  version: string
  /** Where its archive is fetched from; null for where all are. */
  url: string | null
  /** SHA-256 of the archive, hexadecimal. */
  sha: string | null
  official: boolean
  enabled: boolean
  beta: boolean
  deprecated: boolean
  deprecatedReason: string | null
  createdAt: Immutable<Timestamp>
}
