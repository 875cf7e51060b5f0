import type { Immutable } from '../../db/columns.ts'

/** A workspace whose runs may read the state of another one. */
export interface RemoteStateConsumerTable {
  workspaceId: Immutable<string>
  consumerId: Immutable<string>
}
