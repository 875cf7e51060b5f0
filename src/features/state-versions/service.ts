import type { Readable } from 'node:stream'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as workspaces from '../workspaces/service.ts'
import { save } from './acceptance.ts'
import type { ReceivedState } from './inspection.ts'
import type { StateVersion } from './store.ts'
import * as store from './store.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only, which is too much for a file.
export { onFinalized } from './acceptance.ts'
export { create, type NewStateVersion } from './creation.ts'
export { inspect } from './inspection.ts'
export { maxJsonBytes } from './limits.ts'
export { rollBack } from './rollback.ts'
export type { StateVersion } from './store.ts'
export { acceptJson, acceptRaw, endLock, getExpecting, getFileOf } from './uploads.ts'

/** The version, if the subject has `permission` in its workspace; 404 otherwise. */
export async function get(
  ctx: Ctx,
  id: string,
  permission: Permission = 'state-versions:read',
): Promise<StateVersion> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  await workspaces.get(ctx, { id: version.workspaceId }, permission)
  return version
}

/** The version that counts in the workspace; 404 also when it has no state. */
export async function getCurrent(ctx: Ctx, workspaceId: string): Promise<StateVersion> {
  await workspaces.get(ctx, { id: workspaceId }, 'state-versions:read')
  const version = await store.findCurrent(ctx.db, workspaceId)
  if (!version) throw notFound()
  return version
}

/** Versions of a workspace, the newest first. */
export async function list(
  ctx: Ctx,
  of: { organizationName: string; name: string },
  statuses: readonly StateVersion['status'][] | undefined,
  page: PageRequest,
) {
  const { id } = await workspaces.get(ctx, of, 'state-versions:read')
  return store.list(ctx.db, id, statuses, page)
}

/** Those of the versions that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<StateVersion[]> {
  const versions = await store.listByIds(ctx.db, ids)
  const readable = await workspaces.readableAmong(
    ctx,
    versions.map(({ workspaceId }) => workspaceId),
    'state-versions:read',
  )
  return versions.filter(({ workspaceId }) => readable.has(workspaceId))
}

/** The raw state of the workspace, for the worker of a run, which the caller has authorized. */
export async function openRaw(ctx: Ctx, workspaceId: string): Promise<Readable | undefined> {
  const version = await store.findCurrent(ctx.db, workspaceId)
  return version?.blobKey ? ctx.sealed.read(version.blobKey) : undefined
}

/**
 * Saves what the apply of a run has left, if the run holds the workspace; the caller has authorized it, and inspected
 * the state before the transaction began. Throws 409 when it does not follow the current one.
 */
export async function saveOfRun(
  tx: Ctx,
  maker: { workspaceId: string; runId: string; userId: string | null; teamId: string | null },
  received: ReceivedState,
): Promise<void> {
  const { serial, lineage = '', md5 } = received.file
  if (serial === undefined) throw new AppError('unprocessable', 'This is not a state: it has no serial.')
  await save(tx, { ...maker, isRun: true }, { serial, lineage, md5, force: false }, received)
}
