import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface StateVersionTable {
  id: Immutable<string>
  workspaceId: Immutable<string>
  status: 'pending' | 'finalized' | 'discarded'
  /** Counts the finalized versions of a workspace; the highest is the current one. Null until finalized. */
  sequence: number | null
  serial: number
  lineage: string
  /** Of the raw state, hexadecimal. */
  md5: Immutable<string>
  /** Bytes of the raw state; 0 until it is known. */
  size: number
  force: Immutable<boolean>
  intermediate: boolean
  /** The version of the format of the state. */
  stateVersion: number | null
  terraformVersion: string | null
  resourcesProcessed: boolean
  /** Sealed JSON: outputs as the client announced them, with detailed types; null once they are written down. */
  announcedOutputs: string | null
  /** JSON array of what there is of each kind of resource; null until finalized. */
  summary: string | null
  /** Sealed JSON object: a digest of each managed resource by its address. Only of the current version. */
  digests: string | null
  /** Whether the lock under which it was made has been given back. */
  settled: boolean
  /** The raw state, sealed. */
  blobKey: string | null
  /** The state in the form of `terraform show -json`, sealed. */
  jsonBlobKey: string | null
  runId: Immutable<string | null>
  createdByUserId: Immutable<string | null>
  createdByTeamId: Immutable<string | null>
  rollbackOfId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}
