import type { Immutable, Timestamp } from '../../db/columns.ts'

/** A flat tag of an organization: a name without a value. */
export interface TagTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  name: Immutable<string>
  createdAt: Immutable<Timestamp>
}

export interface WorkspaceTagTable {
  workspaceId: Immutable<string>
  tagId: Immutable<string>
}
