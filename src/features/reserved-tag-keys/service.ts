import { authorize } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { ReservedTagKey } from './store.ts'
import * as store from './store.ts'

export type { ReservedTagKey } from './store.ts'

export interface ReservedTagKeyAttributes {
  key: string
  disableOverrides: boolean
}

/** The organization's reserved keys in the order they were made. Every member may see them. */
export async function list(ctx: Ctx, organizationName: string, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'reserved-tag-keys:read')
  return store.list(ctx.db, id, page)
}

/** The reserved key, if the caller may change it; 404 otherwise. */
export async function getManaged(ctx: Ctx, id: string): Promise<ReservedTagKey> {
  const key = await store.find(ctx.db, id)
  if (!key) throw notFound()
  await authorize(ctx, 'reserved-tag-keys:manage', key.organizationId)
  return key
}

/** Reserves a key. Bindings that use it already stay as they are. */
export function create(
  ctx: Ctx,
  organizationName: string,
  attributes: ReservedTagKeyAttributes,
): Promise<ReservedTagKey> {
  return inTransaction(ctx, async (tx) => {
    const { id: organizationId } = await organizations.getByName(
      tx,
      organizationName,
      'reserved-tag-keys:manage',
    )
    const now = tx.now()
    const key = await store
      .insert(tx.db, { ...attributes, id: newId('rtk'), organizationId, createdAt: now, updatedAt: now })
      .catch(refuseTakenKey)
    await recordChange(tx, 'create', key)
    return key
  })
}

/** Renaming a reserved key does not rename the bindings that use it. */
export function update(ctx: Ctx, id: string, attributes: ReservedTagKeyAttributes): Promise<ReservedTagKey> {
  return inTransaction(ctx, async (tx) => {
    await getManaged(tx, id)
    const key = await store.update(tx.db, id, { ...attributes, updatedAt: tx.now() }).catch(refuseTakenKey)
    if (!key) throw notFound()
    await recordChange(tx, 'update', key)
    return key
  })
}

/** Ends the reservation; bindings that use the key stay. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const key = await getManaged(tx, id)
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', key)
  })
}

/**
 * The keys among `keys` that a workspace may not bind when its project does: those reserved with
 * `disable-overrides`. Part of a check that the caller has authorized.
 */
export function listProtected(tx: Ctx, organizationId: string, keys: readonly string[]): Promise<string[]> {
  return store.listProtected(tx.db, organizationId, keys)
}

function recordChange(tx: Ctx, action: string, { id, organizationId }: ReservedTagKey): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'reserved_tag_key', resourceId: id })
}

function refuseTakenKey(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Key has already been taken', {
    pointer: '/data/attributes/key',
    cause: error,
  })
}
