import type { Readable } from 'node:stream'
import { authorize, authorizeAnyone, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import { getFile } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { ConfigurationVersion } from './store.ts'
import * as store from './store.ts'

export type { ConfigurationVersion } from './store.ts'

type Callback = (tx: Ctx, version: ConfigurationVersion) => Promise<void>

const callbacks = { uploaded: new Set<Callback>(), errored: new Set<Callback>() }

/** Adds what happens, in the same transaction, when the archive of a configuration version is there. */
export function onUploaded(callback: Callback): void {
  callbacks.uploaded.add(callback)
}

/** Adds what happens, in the same transaction, when it turns out that there will be none. */
export function onErrored(callback: Callback): void {
  callbacks.errored.add(callback)
}

/** Tells those who want to know it. */
export async function announce(tx: Ctx, event: 'uploaded' | 'errored', version: ConfigurationVersion) {
  for (const callback of callbacks[event]) await callback(tx, version)
}

export interface ConfigurationVersionAttributes {
  autoQueueRuns?: boolean | null | undefined
  speculative?: boolean | null | undefined
  provisional?: boolean | null | undefined
}

/** The workspace's, the newest first. */
export async function list(ctx: Ctx, workspaceId: string, page: PageRequest) {
  await workspaces.get(ctx, { id: workspaceId }, 'runs:read')
  return store.list(ctx.db, workspaceId, page)
}

/** The configuration version, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  id: string,
  permission: Permission = 'runs:read',
): Promise<ConfigurationVersion> {
  return getAuthorized(ctx, await store.find(ctx.db, id), permission)
}

/** The same by the id of a run. */
export async function getOfRun(ctx: Ctx, runId: string): Promise<ConfigurationVersion> {
  return getAuthorized(ctx, await store.findOfRun(ctx.db, runId), 'runs:read')
}

async function getAuthorized(
  ctx: Ctx,
  version: ConfigurationVersion | undefined,
  permission: Permission,
): Promise<ConfigurationVersion> {
  if (!version) throw notFound()
  await authorize(ctx, permission, version.organizationId)
  return version
}

/** Those of the configuration versions that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<ConfigurationVersion[]> {
  const versions = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(versions.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return versions.filter((_, index) => visible[index])
}

/** Makes a configuration version, whose archive is yet to come; `source` is what makes it. */
export function create(
  ctx: Ctx,
  workspaceId: string,
  { autoQueueRuns, speculative, provisional }: ConfigurationVersionAttributes,
  source: string,
): Promise<ConfigurationVersion> {
  return inTransaction(ctx, async (tx) => {
    const { organizationId } = await workspaces.get(tx, { id: workspaceId }, 'runs:queue')
    const { kind, id: subjectId } = authorizeAnyone(tx)
    const id = newId('cv')
    await store.insert(tx.db, {
      id,
      workspaceId,
      status: 'pending',
      statusTimestamps: '{}',
      source,
      speculative: speculative ?? false,
      provisional: provisional ?? false,
      autoQueueRuns: autoQueueRuns ?? true,
      error: null,
      errorMessage: null,
      blobKey: null,
      createdByUserId: kind === 'user' ? subjectId : null,
      createdByTeamId: kind === 'team' ? subjectId : null,
      createdAt: tx.now(),
    })
    const resource = { resourceType: 'configuration_version', resourceId: id }
    await audit.record(tx, {
      ...resource,
      action: 'create',
      organizationId,
      meta: { workspace: workspaceId },
    })
    return reread(tx, id)
  })
}

async function reread(tx: Ctx, id: string): Promise<ConfigurationVersion> {
  const version = await store.find(tx.db, id)
  if (!version) throw notFound()
  return version
}

/** For slices that make something of it, and have authorized that. */
export function find(tx: Ctx, id: string): Promise<ConfigurationVersion | undefined> {
  return store.find(tx.db, id)
}

/** The same, if its archive is there; 404 otherwise. */
export async function getUploaded(tx: Ctx, id: string): Promise<ConfigurationVersion> {
  const version = await store.find(tx.db, id)
  if (version?.status !== 'uploaded') throw notFound()
  return version
}

/** What a run of the workspace takes unless it is told otherwise. */
export function latestUploaded(tx: Ctx, workspaceId: string): Promise<ConfigurationVersion | undefined> {
  return store.findCurrent(tx.db, workspaceId)
}

/** A provisional one is like every other once a run with it was applied. */
export function settle(tx: Ctx, id: string): Promise<void> {
  return store.update(tx.db, id, { provisional: false })
}

/** The archive, for the worker of a run, which the caller has authorized. */
export async function open(ctx: Ctx, id: string): Promise<Readable | undefined> {
  const version = await store.find(ctx.db, id)
  return version?.blobKey ? ctx.sealed.read(version.blobKey) : undefined
}

/** What is known of the archive that a signed link names; 404 when it is not there, or no more. */
export async function getArchive(ctx: Ctx, id: string) {
  const { blobKey } = await getUploaded(ctx, id)
  return getFile(ctx, blobKey)
}
