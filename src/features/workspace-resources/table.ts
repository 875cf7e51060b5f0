import type { Immutable, Timestamp } from '../../db/columns.ts'

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
