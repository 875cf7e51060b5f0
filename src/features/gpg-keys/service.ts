import { authorize, authorizeRegistryReader, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newNumericId } from '../../lib/ids.ts'
import { OpenPgpError, readPublicKey } from '../../lib/openpgp.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import * as registryLog from '../registry-log/service.ts'
import type { GpgKey } from './store.ts'
import * as store from './store.ts'

export type { GpgKey } from './store.ts'

/** A key, as its address names it. */
export interface KeyAddress {
  registryName: string
  namespace: string
  keyId: string
}

/** Keys exist for private providers only. */
export function requirePrivate(ctx: Ctx, registryName: string): void {
  authorizeRegistryReader(ctx)
  if (registryName === 'public')
    throw new AppError('forbidden', 'Signing keys are not available for public providers.')
  if (registryName !== 'private') throw notFound()
}

/**
 * The keys of those of `namespaces` that the caller is a member of. 400 when none is named, 403 when the
 * caller is a member of none.
 */
export async function list(ctx: Ctx, registryName: string, namespaces: readonly string[], page: PageRequest) {
  requirePrivate(ctx, registryName)
  if (namespaces.length === 0) {
    throw new AppError('badRequest', 'filter[namespace] must name one or more namespaces', {
      parameter: 'filter[namespace]',
    })
  }
  const found = await Promise.all(namespaces.map((name) => organizations.findByName(ctx, name)))
  const authorized: string[] = []
  for (const organization of found) {
    if (organization && (await can(ctx, 'registry:read', organization.id))) authorized.push(organization.id)
  }
  if (authorized.length === 0) {
    throw new AppError(
      'forbidden',
      'You are not authorized for any of the namespaces in filter[namespace].',
      {
        parameter: 'filter[namespace]',
      },
    )
  }
  return store.list(ctx.db, authorized, page)
}

/** The key at an address, if the caller has `permission` in its namespace; 404 otherwise. */
export async function get(
  ctx: Ctx,
  address: KeyAddress,
  permission: Permission = 'registry:read',
): Promise<GpgKey> {
  requirePrivate(ctx, address.registryName)
  const { id } = await organizations.getByName(ctx, address.namespace, permission)
  const key = await findByKeyId(ctx, id, address.keyId)
  if (!key) throw notFound()
  return key
}

/** The key with this record id, which is how `links.self` names it. */
export async function getById(ctx: Ctx, registryName: string, id: string): Promise<GpgKey> {
  requirePrivate(ctx, registryName)
  const key = await store.find(ctx.db, id)
  if (!key) throw notFound()
  await authorize(ctx, 'registry:read', key.organizationId)
  return key
}

/** Adds a public key to a namespace. The armor is kept as it came; a private key is never stored or logged. */
export async function create(
  ctx: Ctx,
  registryName: string,
  { namespace, asciiArmor }: { namespace: string; asciiArmor: string },
): Promise<GpgKey> {
  requirePrivate(ctx, registryName)
  const { id: organizationId } = await organizations.getByName(ctx, namespace, 'gpg-keys:manage')
  const { keyId, fingerprint, expiresAt } = await readPublicKey(asciiArmor).catch(refuseArmor)
  return inTransaction(ctx, async (tx) => {
    const id = newNumericId()
    const now = tx.now()
    await store
      .insert(tx.db, {
        id,
        organizationId,
        keyId,
        fingerprint,
        asciiArmor,
        expiresAt,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseDuplicate('/data/attributes/ascii-armor'))
    const key = await recordChange(tx, 'create', id)
    await appendToLog(tx, 'add', key)
    return key
  })
}

/** Moves a key to another namespace; the versions it signed keep their copy of it. */
export function update(ctx: Ctx, address: KeyAddress, namespace: string): Promise<GpgKey> {
  return inTransaction(ctx, async (tx) => {
    const before = await get(tx, address, 'gpg-keys:manage')
    const target = await organizations.findByName(tx, namespace)
    if (!target || !(await can(tx, 'gpg-keys:manage', target.id))) {
      throw new AppError('invalid', 'namespace not authorized', { pointer: '/data/attributes/namespace' })
    }
    const moved = await store
      .move(tx.db, before, { organizationId: target.id, updatedAt: tx.now() })
      .catch(refuseDuplicate('/data/attributes/namespace'))
    if (!moved) throw notFound()
    const after = await recordChange(tx, 'update', before.id)
    await appendMove(tx, before, after)
    return after
  })
}

/** Deletes a key and returns what it was. Versions it signed stay installable; no new one can use it. */
export function remove(ctx: Ctx, address: KeyAddress): Promise<GpgKey> {
  return inTransaction(ctx, async (tx) => {
    const key = await get(tx, address, 'gpg-keys:manage')
    await recordChange(tx, 'destroy', key.id)
    if (!(await store.remove(tx.db, key.id))) throw notFound()
    await appendToLog(tx, 'remove', key)
    return key
  })
}

/**
 * The key of an organization by the id clients know: 16 hexadecimal digits in any case, or the whole
 * fingerprint. For callers that were authorized in the organization.
 */
export function findByKeyId(ctx: Ctx, organizationId: string, keyId: string): Promise<GpgKey | undefined> {
  const normal = keyId.toUpperCase()
  return store.findByKeyId(ctx.db, organizationId, /^[0-9A-F]{40}$/.test(normal) ? normal.slice(-16) : normal)
}

async function recordChange(tx: Ctx, action: string, id: string): Promise<GpgKey> {
  const key = await store.find(tx.db, id)
  if (!key) throw notFound()
  const { organizationId, keyId } = key
  await audit.record(tx, { action, organizationId, resourceType: 'gpg_key', resourceId: keyId })
  return key
}

function appendToLog(
  tx: Ctx,
  action: registryLog.LogAction,
  { organizationId, namespace, keyId, fingerprint }: GpgKey,
  details?: Record<string, string>,
): Promise<void> {
  const subject = { kind: 'gpg-key', namespace, keyId, fingerprint, details } as const
  return registryLog.append(tx, organizationId, { action, subject })
}

/** Both organizations see that it went, and where; always in the same order, or two moves would wait for each other. */
async function appendMove(tx: Ctx, before: GpgKey, after: GpgKey): Promise<void> {
  if (before.organizationId === after.organizationId) return
  const moves = [
    { key: before, details: { to: after.namespace } },
    { key: after, details: { from: before.namespace } },
  ].sort((a, b) => (a.key.organizationId < b.key.organizationId ? -1 : 1))
  for (const { key, details } of moves) await appendToLog(tx, 'move', key, details)
}

function refuseArmor(error: unknown): never {
  if (!(error instanceof OpenPgpError)) throw error
  throw new AppError('invalid', `Ascii armor is invalid: ${error.message}`, {
    pointer: '/data/attributes/ascii-armor',
  })
}

function refuseDuplicate(pointer: string) {
  return (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('invalid', 'GPG key already exists for namespace', { pointer, cause: error })
  }
}
