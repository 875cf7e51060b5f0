import type { Immutable, Timestamp } from '../../db/columns.ts'

/** When runs of one workspace are applied, a run of the other begins. */
export interface RunTriggerTable {
  id: Immutable<string>
  /** Whose runs begin. */
  workspaceId: Immutable<string>
  /** Whose applied runs begin them. */
  sourceableId: Immutable<string>
  createdAt: Immutable<Timestamp>
}
