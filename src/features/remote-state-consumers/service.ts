import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { refuse } from '../../lib/errors.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as workspaces from '../workspaces/service.ts'
import * as store from './store.ts'

/** One page of the workspaces whose runs may read the state of a workspace, by name. */
export async function list(ctx: Ctx, workspaceId: string, page: PageRequest) {
  await workspaces.get(ctx, { id: workspaceId })
  const found = await store.list(ctx.db, workspaceId, page)
  const consumers = await workspaces.listVisible(
    ctx,
    found.items.map(({ id }) => id),
  )
  const items = found.items.flatMap(({ id }) => consumers.find((consumer) => consumer.id === id) ?? [])
  return { ...found, items }
}

export type Change = 'add' | 'replace' | 'remove'

/** Changes who may read the state of a workspace: workspaces of the same organization, all of them or none. */
export function change(
  ctx: Ctx,
  workspaceId: string,
  how: Change,
  consumerIds: readonly string[],
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await workspaces.get(tx, { id: workspaceId }, 'workspaces:manage')
    // Two changes at once come one after the other.
    await workspaces.hold(tx, workspaceId)
    if (how === 'remove') await store.remove(tx.db, workspaceId, consumerIds)
    else {
      await refuseStrangers(tx, workspace, consumerIds)
      if (how === 'replace') await store.remove(tx.db, workspaceId)
      await store.add(tx.db, workspaceId, [...new Set(consumerIds)])
    }
    await workspaces.recordChange(tx, `${how}-remote-state-consumers`, workspace)
  })
}

async function refuseStrangers(
  tx: Ctx,
  { organizationId }: workspaces.Workspace,
  consumerIds: readonly string[],
): Promise<void> {
  const visible = await workspaces.listVisible(tx, consumerIds)
  const ours = new Set(visible.flatMap((each) => (each.organizationId === organizationId ? each.id : [])))
  refuse(
    consumerIds.flatMap((id, index) =>
      ours.has(id) ? [] : [{ detail: 'Workspace does not exist', pointer: `/data/${index}/id` }],
    ),
  )
}
