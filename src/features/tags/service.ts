import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { Tag, TagFilter } from './store.ts'
import * as store from './store.ts'

export type { Tag, TagFilter } from './store.ts'

/** How a request names a tag: an existing one by its id, or any by its name. */
export interface NamedTag {
  id?: string | undefined
  name?: string | undefined
}

interface Taggable {
  id: string
  organizationId: string
}

/** The organization's tags by name. Every member may see them. */
export async function list(ctx: Ctx, organizationName: string, filter: TagFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'tags:read')
  return store.list(ctx.db, id, filter, page)
}

/** Deletes tags of the organization from it and from all workspaces; all of them, or none and 404. */
export function remove(ctx: Ctx, organizationName: string, ids: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { id: organizationId } = await organizations.getByName(tx, organizationName, 'tags:manage')
    const found = await store.listAmong(tx.db, organizationId, { ids })
    if (ids.some((id) => !found.some((tag) => tag.id === id))) throw notFound()
    await store.remove(tx.db, ids)
    for (const { id: resourceId, name } of found) {
      const resourceType = 'tag'
      await audit.record(tx, { action: 'destroy', organizationId, resourceType, resourceId, meta: { name } })
    }
  })
}

/** The tag, if the subject may put it on workspaces; 404 otherwise. */
export async function getManaged(ctx: Ctx, id: string): Promise<Tag> {
  const tag = await store.find(ctx.db, id)
  if (!tag) throw notFound()
  await authorize(ctx, 'tags:manage', tag.organizationId)
  return tag
}

/** Puts a tag on workspaces of its organization. */
export function addWorkspaces(ctx: Ctx, id: string, workspaceIds: readonly string[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { organizationId } = await getManaged(tx, id)
    await authorize(tx, 'workspaces:manage', organizationId)
    const workspaces = await store.listWorkspaces(tx.db, workspaceIds)
    const ours = workspaces.filter((workspace) => workspace.organizationId === organizationId)
    refuse(
      workspaceIds.flatMap((workspaceId, index) =>
        ours.some((workspace) => workspace.id === workspaceId)
          ? []
          : [{ detail: 'Workspace does not exist', pointer: `/data/${index}/id` }],
      ),
    )
    await store.attach(tx.db, workspaceIds, [id]).catch(refuseGone)
    for (const workspace of ours) await recordChange(tx, workspace)
  })
}

/** What tags are put on, if the subject has `permission` for it; 404 otherwise. */
export async function getWorkspace(ctx: Ctx, id: string, permission: Permission): Promise<Taggable> {
  const [workspace] = await store.listWorkspaces(ctx.db, [id])
  if (!workspace) throw notFound()
  await authorize(ctx, permission, workspace.organizationId)
  return workspace
}

/** The workspace's tags by name. */
export async function listOfWorkspace(ctx: Ctx, workspaceId: string, page: PageRequest) {
  const { id } = await getWorkspace(ctx, workspaceId, 'workspaces:read')
  return store.listOfWorkspace(ctx.db, id, page)
}

export function addToWorkspace(ctx: Ctx, workspaceId: string, tags: readonly NamedTag[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await getWorkspace(tx, workspaceId, 'workspaces:manage')
    await attach(tx, workspace, tags, '/data')
    await recordChange(tx, workspace)
  })
}

/** Takes tags off a workspace; those it does not have are passed over. */
export function removeFromWorkspace(ctx: Ctx, workspaceId: string, tags: readonly NamedTag[]): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const workspace = await getWorkspace(tx, workspaceId, 'workspaces:manage')
    const found = await store.listAmong(tx.db, workspace.organizationId, {
      ids: tags.flatMap((tag) => tag.id || []),
      names: tags.flatMap((tag) => tag.name ?? []),
    })
    await store.detach(
      tx.db,
      workspaceId,
      found.map((tag) => tag.id),
    )
    await recordChange(tx, workspace)
  })
}

/**
 * Puts tags on a workspace, made where the organization has none of that name; violations point below
 * `pointer`. Part of a change that the caller has authorized.
 */
export async function attach(
  tx: Ctx,
  { id, organizationId }: Taggable,
  tags: readonly NamedTag[],
  pointer: string,
): Promise<void> {
  const known = await store.listAmong(tx.db, organizationId, { ids: tags.flatMap((tag) => tag.id || []) })
  refuse(
    tags.flatMap((tag, index) => {
      if (tag.id && !known.some((each) => each.id === tag.id)) {
        return [{ detail: 'Tag does not exist', pointer: `${pointer}/${index}/id` }]
      }
      return tag.id || tag.name
        ? []
        : [{ detail: "Name can't be blank", pointer: `${pointer}/${index}/attributes/name` }]
    }),
  )
  const names = [...new Set(tags.flatMap((tag) => (tag.id ? [] : (tag.name ?? []))))]
  const createdAt = tx.now()
  await store.insertMissing(
    tx.db,
    names.map((name) => ({ id: newId('tag'), organizationId, name, createdAt })),
  )
  const named = await store.listAmong(tx.db, organizationId, { names })
  const tagIds = new Set([...known, ...named].map((tag) => tag.id))
  await store.attach(tx.db, [id], [...tagIds]).catch(refuseGone)
}

function refuseGone(error: unknown): never {
  if (!isForeignKeyViolation(error)) throw error
  throw new AppError('conflict', 'A workspace or a tag of this request was deleted just now.', {
    cause: error,
  })
}

function recordChange(tx: Ctx, { id, organizationId }: Taggable): Promise<void> {
  return audit.record(tx, { action: 'update', organizationId, resourceType: 'workspace', resourceId: id })
}
