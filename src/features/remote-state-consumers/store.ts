import { among, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'

/** One page of the ids of the workspaces that may read the state of a workspace, by their names. */
export function list(db: Db, workspaceId: string, page: PageRequest) {
  const consumers = db
    .selectFrom('remoteStateConsumers')
    .innerJoin('workspaces', 'workspaces.id', 'remoteStateConsumers.consumerId')
    .select('workspaces.id')
    .where('remoteStateConsumers.workspaceId', '=', workspaceId)
  return paginate(consumers.orderBy('workspaces.name').orderBy('workspaces.id'), page)
}

/** Adds workspaces; those that are there already stay. */
export async function add(db: Db, workspaceId: string, consumerIds: readonly string[]): Promise<void> {
  if (consumerIds.length === 0) return
  await db
    .insertInto('remoteStateConsumers')
    .values(consumerIds.map((consumerId) => ({ workspaceId, consumerId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Removes these workspaces, or all of them. */
export async function remove(db: Db, workspaceId: string, consumerIds?: readonly string[]): Promise<void> {
  let doomed = db.deleteFrom('remoteStateConsumers').where('workspaceId', '=', workspaceId)
  if (consumerIds) doomed = doomed.where((eb) => among(eb, 'consumerId', consumerIds))
  await doomed.execute()
}
