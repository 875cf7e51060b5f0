import type { Ctx } from '../../context.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { StateObject } from '../../lib/state-file.ts'
import * as workspaces from '../workspaces/service.ts'
import type { Order } from './store.ts'
import * as store from './store.ts'

export type { Order, WorkspaceResource } from './store.ts'

/** One page of what the current state of the workspace says that it manages. */
export async function list(
  ctx: Ctx,
  workspaceId: string,
  { text, order }: { text: string | undefined; order: () => Order },
  page: PageRequest,
) {
  const { id } = await workspaces.get(ctx, { id: workspaceId }, 'state-versions:read')
  return store.list(ctx.db, id, { text, order: order() }, page)
}

/** Makes the list that of a new state; `before` has the digests of the objects of the last one, by address. */
export async function replace(
  tx: Ctx,
  { id: stateVersionId, workspaceId }: { id: string; workspaceId: string },
  objects: readonly StateObject[],
  before: Readonly<Record<string, string>>,
): Promise<void> {
  const gone = new Set(await store.listAddresses(tx.db, workspaceId))
  const now = tx.now()
  const added: Parameters<typeof store.insert>[1][number][] = []
  for (const { digest, ...object } of objects) {
    const known = gone.delete(object.address)
    if (!known)
      added.push({
        ...object,
        id: newId('wsr'),
        workspaceId,
        stateVersionId,
        createdAt: now,
        updatedAt: now,
      })
    else if (before[object.address] !== digest) {
      const { address, ...changes } = object
      await store.update(tx.db, workspaceId, address, { ...changes, stateVersionId, updatedAt: now })
    }
  }
  await store.remove(tx.db, workspaceId, [...gone])
  await store.insert(tx.db, added)
}
