import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { Workspace } from '../workspaces/service.ts'
import * as workspaces from '../workspaces/service.ts'
import type { SshKey } from './store.ts'
import * as store from './store.ts'

export type { SshKey } from './store.ts'

/** The organization's keys in the order they were made. */
export async function list(ctx: Ctx, organizationName: string, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'ssh-keys:read')
  return store.list(ctx.db, id, page)
}

/** The key, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'ssh-keys:read'): Promise<SshKey> {
  const key = await store.find(ctx.db, id)
  if (!key) throw notFound()
  await authorize(ctx, permission, key.organizationId)
  return key
}

/** Keeps a private key, sealed; nobody is ever shown it again. */
export function create(
  ctx: Ctx,
  organizationName: string,
  { name, value }: { name: string; value: string },
): Promise<SshKey> {
  return inTransaction(ctx, async (tx) => {
    const { id: organizationId } = await organizations.getByName(tx, organizationName, 'ssh-keys:manage')
    const row = {
      id: newId('sshkey'),
      organizationId,
      name,
      value: tx.vault.seal(value),
      createdAt: tx.now(),
    }
    const key = await store.insert(tx.db, row).catch(refuseTakenName)
    await recordChange(tx, 'create', key)
    return key
  })
}

/** Renames a key; its value is never replaced. */
export function update(ctx: Ctx, id: string, { name }: { name?: string | undefined }): Promise<SshKey> {
  return inTransaction(ctx, async (tx) => {
    const before = await get(tx, id, 'ssh-keys:manage')
    if (name === undefined) return before
    const key = await store.update(tx.db, id, { name }).catch(refuseTakenName)
    if (!key) throw notFound()
    await recordChange(tx, 'update', key)
    return key
  })
}

/** Removes a key, also from the workspaces that use it. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const key = await get(tx, id, 'ssh-keys:manage')
    if (!(await store.remove(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', key)
  })
}

/** Lets the runs of a workspace use a key of its organization, or none. */
export function assign(ctx: Ctx, workspaceId: string, sshKeyId: string | null): Promise<Workspace> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await workspaces.get(tx, { id: workspaceId }, 'workspaces:manage')
    const key = sshKeyId === null ? undefined : await store.hold(tx.db, sshKeyId)
    if (sshKeyId !== null && key?.organizationId !== workspace.organizationId)
      throw new AppError('invalid', 'SSH key does not exist', { pointer: '/data/attributes/id' })
    return workspaces.useSshKey(tx, workspace, sshKeyId)
  })
}

/** The private key that the runs of a workspace fetch modules with; for their worker. */
export async function privateKeyOf(
  tx: Ctx,
  { sshKeyId }: Pick<Workspace, 'sshKeyId'>,
): Promise<string | undefined> {
  const sealed = sshKeyId ? await store.findValue(tx.db, sshKeyId) : undefined
  return sealed && tx.vault.open(sealed)
}

function recordChange(tx: Ctx, action: string, { id, organizationId, name }: SshKey): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'ssh_key', resourceId: id, meta: { name } })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
