import type { Immutable, Timestamp } from '../../db/columns.ts'

/** Something that happened to a run, for people. */
export interface RunEventTable {
  id: Immutable<string>
  runId: Immutable<string>
  /** In the order in which they happened: several may happen in one moment. */
  position: Immutable<number>
  action: Immutable<string>
  description: Immutable<string | null>
  actorUserId: Immutable<string | null>
  actorTeamId: Immutable<string | null>
  commentId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}
