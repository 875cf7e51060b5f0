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
  /** The version of the state's format. */
  stateVersion: number | null
  terraformVersion: string | null
  resourcesProcessed: boolean
  /** Sealed JSON: outputs as the client announced them, with detailed types. */
  announcedOutputs: string | null
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

export interface WorkspaceResourceTable {
  id: Immutable<string>
  workspaceId: Immutable<string>
  /** The version that changed it last. */
  stateVersionId: string
  address: Immutable<string>
  name: string
  module: string
  provider: string
  providerType: string
  nameIndex: string | null
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
