import type { Permission } from '../../auth/permissions.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import * as workspaces from '../workspaces/service.ts'
import * as service from './service.ts'
import { move, notAllowed } from './status.ts'
import type { ConfigurationVersion } from './store.ts'
import * as store from './store.ts'

/** Drops the archive of a configuration version that nothing needs any more. */
export function archive(ctx: Ctx, id: string): Promise<ConfigurationVersion> {
  return change(ctx, id, 'runs:queue', async (tx, version) => {
    await refuseWhileNeeded(tx, version)
    const archived = await move(tx, version, 'archived', { blobKey: null })
    await removeFiles(tx, [version.blobKey])
    return archived
  })
}

/** Puts the archive out of reach; it can be restored. */
export function softDelete(ctx: Ctx, id: string): Promise<ConfigurationVersion> {
  return change(ctx, id, 'workspaces:manage', async (tx, version) => {
    await refuseWhileNeeded(tx, version)
    return move(tx, version, 'backing_data_soft_deleted')
  })
}

export function restore(ctx: Ctx, id: string): Promise<ConfigurationVersion> {
  return change(ctx, id, 'workspaces:manage', async (tx, version) => {
    if (version.status === 'pending') throw notAllowed('the configuration version is pending')
    return move(tx, version, 'uploaded')
  })
}

/** Drops an archive that was put out of reach before. */
export function permanentlyDelete(ctx: Ctx, id: string): Promise<ConfigurationVersion> {
  return change(ctx, id, 'workspaces:manage', async (tx, version) => {
    const deleted = await move(tx, version, 'backing_data_permanently_deleted', { blobKey: null })
    await removeFiles(tx, [version.blobKey])
    return deleted
  })
}

/** No run of the workspace begins meanwhile. */
function change(
  ctx: Ctx,
  id: string,
  permission: Permission,
  work: (tx: Ctx, version: ConfigurationVersion) => Promise<ConfigurationVersion>,
): Promise<ConfigurationVersion> {
  return inTransaction(ctx, async (tx) => {
    const { workspaceId } = await service.get(tx, id, permission)
    await workspaces.hold(tx, workspaceId)
    await store.hold(tx.db, id)
    return work(tx, await service.get(tx, id, permission))
  })
}

async function refuseWhileNeeded(tx: Ctx, { id, workspaceId }: ConfigurationVersion): Promise<void> {
  const why = (reason: string) => notAllowed(`configuration could not be archived because ${reason}`)
  const current = await store.findCurrent(tx.db, workspaceId)
  if (current?.id === id) throw why('it is current')
  if (await store.isInUse(tx.db, id)) throw why('a run that has not ended uses it')
}
