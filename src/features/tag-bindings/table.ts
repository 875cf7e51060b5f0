import type { Immutable, Timestamp } from '../../db/columns.ts'

/** Exactly one of project and workspace is set. */
export interface TagBindingTable {
  id: Immutable<string>
  projectId: Immutable<string | null>
  workspaceId: Immutable<string | null>
  key: Immutable<string>
  /** Empty when the binding has none. */
  value: string
  /** Order within the resource. */
  position: number
  createdAt: Immutable<Timestamp>
  updatedAt: Timestamp
}
