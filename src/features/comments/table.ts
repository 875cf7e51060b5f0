import type { Immutable, Timestamp } from '../../db/columns.ts'

export interface CommentTable {
  id: Immutable<string>
  runId: Immutable<string>
  body: Immutable<string>
  createdByUserId: Immutable<string | null>
  createdByTeamId: Immutable<string | null>
  createdAt: Immutable<Timestamp>
}
