import type { Ctx } from '../../context.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import type { ConfigurationVersion } from './store.ts'
import * as store from './store.ts'
import type { ConfigurationStatus } from './table.ts'

/** Every legal transition; nothing else sets a status. */
const TRANSITIONS: Record<ConfigurationStatus, readonly ConfigurationStatus[]> = {
  pending: ['uploaded', 'errored'],
  uploaded: ['archived', 'backing_data_soft_deleted'],
  backing_data_soft_deleted: ['uploaded', 'backing_data_permanently_deleted'],
  errored: [],
  archived: [],
  backing_data_permanently_deleted: [],
}

/** Takes the configuration version, which the caller holds, to another status; 409 when there is no way. */
export async function move(
  tx: Ctx,
  { id, status, statusTimestamps, organizationId }: ConfigurationVersion,
  to: ConfigurationStatus,
  changes: Parameters<typeof store.update>[2] = {},
): Promise<ConfigurationVersion> {
  if (!TRANSITIONS[status].includes(to)) throw notAllowed(`the configuration version is ${status}`)
  const timestamps = { ...JSON.parse(statusTimestamps), [`${to.replaceAll('_', '-')}-at`]: tx.now() }
  await store.update(tx.db, id, { ...changes, status: to, statusTimestamps: JSON.stringify(timestamps) })
  const resource = { resourceType: 'configuration_version', resourceId: id }
  await audit.record(tx, { ...resource, action: to, organizationId })
  const moved = await store.find(tx.db, id)
  if (!moved) throw notFound()
  return moved
}

/** Clients look for these words. */
export function notAllowed(why: string): AppError {
  return new AppError('conflict', `transition not allowed: ${why}`)
}
