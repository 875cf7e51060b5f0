import type { Immutable, Timestamp } from '../../db/columns.ts'

/** A version of the engine that runs may use. */
export interface TerraformVersionTable {
  id: Immutable<string>
  version: string
  /** Digits that are in the order of the versions. */
  rank: string
  /** JSON array of `{ url, sha, os, arch }`: where archives are fetched from; empty for where all are. */
  archs: string
  official: boolean
  enabled: boolean
  beta: boolean
  deprecated: boolean
  deprecatedReason: string | null
  createdAt: Immutable<Timestamp>
}
