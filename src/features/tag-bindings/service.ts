import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as audit from '../audit-trail/service.ts'
import * as reservedTagKeys from '../reserved-tag-keys/service.ts'
import type { OwnerKind, TagBinding } from './store.ts'
import * as store from './store.ts'

export type { OwnerKind, TagBinding } from './store.ts'

/** Bindings a project or a workspace can have; a workspace may inherit as many again. */
const MAX_BINDINGS = 10

/** What bindings are on. A workspace inherits those of its project whose keys it does not bind itself. */
export interface Owner {
  kind: OwnerKind
  id: string
  organizationId: string
  /** Of a workspace. */
  projectId?: string
}

/** How this slice finds what bindings are on, without knowing the slices that have them. */
export interface Owners {
  kind: OwnerKind
  /** The owner, if the caller may see it; 404 otherwise. */
  get: (ctx: Ctx, id: string) => Promise<Owner>
  /** The owner, if the caller may change its bindings; 404 otherwise. */
  getManaged: (ctx: Ctx, id: string) => Promise<Owner>
}

export interface Binding {
  key: string
  /** Empty when the binding has none. */
  value: string
}

/** What a list is narrowed to: owners with an effective binding of this key and, unless undefined, value. */
export interface TagFilter {
  key: string
  value: string | undefined
}

export interface EffectiveTagBinding extends TagBinding {
  /** The project that a workspace has the binding from; null for its own. */
  inheritedFrom: string | null
}

/** The owner's own bindings, in the order they were made. */
export async function list(ctx: Ctx, owners: Owners, id: string): Promise<TagBinding[]> {
  const owner = await owners.get(ctx, id)
  return store.list(ctx.db, owner.kind, [owner.id])
}

/** The bindings that count for the owner: its own, then those it inherits. */
export async function listEffective(ctx: Ctx, owners: Owners, id: string): Promise<EffectiveTagBinding[]> {
  const effective = await listEffectiveOfMany(ctx, [await owners.get(ctx, id)])
  return effective.get(id) ?? []
}

/** The effective bindings of owners of one kind, by owner id. The caller has authorized it. */
export async function listEffectiveOfMany(
  ctx: Ctx,
  owners: readonly Owner[],
): Promise<Map<string, EffectiveTagBinding[]>> {
  const [first] = owners
  if (!first) return new Map()
  const projectIds = [...new Set(owners.flatMap((owner) => owner.projectId ?? []))]
  const direct = await store.list(
    ctx.db,
    first.kind,
    owners.map((owner) => owner.id),
  )
  const inherited = projectIds.length > 0 ? await store.list(ctx.db, 'projects', projectIds) : []
  return new Map(owners.map((owner) => [owner.id, combine(owner, direct, inherited)]))
}

function combine(
  { kind, id, projectId }: Owner,
  direct: readonly TagBinding[],
  inherited: readonly TagBinding[],
): EffectiveTagBinding[] {
  const own = direct.filter(
    (binding) => id === (kind === 'projects' ? binding.projectId : binding.workspaceId),
  )
  const keys = new Set(own.map((binding) => binding.key))
  const rest = inherited.filter((binding) => binding.projectId === projectId && !keys.has(binding.key))
  return [
    ...own.map((binding) => ({ ...binding, inheritedFrom: null })),
    ...rest.map((binding) => ({ ...binding, inheritedFrom: binding.projectId })),
  ]
}

/** Adds bindings, or changes the values of those whose keys are bound; the result is in the order given. */
export function add(
  ctx: Ctx,
  owners: Owners,
  id: string,
  bindings: readonly Binding[],
): Promise<TagBinding[]> {
  return change(ctx, owners, id, (tx, owner) => addTo(tx, owner, bindings))
}

/** Makes `bindings` all that the owner has. */
export async function replace(
  ctx: Ctx,
  owners: Owners,
  id: string,
  bindings: readonly Binding[],
): Promise<void> {
  await change(ctx, owners, id, (tx, owner) => replaceOn(tx, owner, bindings, '/data'))
}

function change<T>(
  ctx: Ctx,
  owners: Owners,
  id: string,
  write: (tx: Ctx, owner: Owner) => Promise<T>,
): Promise<T> {
  return inTransaction(ctx, async (tx) => {
    const { organizationId } = await owners.getManaged(tx, id)
    await store.hold(tx.db, owners.kind, id)
    // Found again, because a workspace may have moved to another project before it was held.
    const result = await write(tx, await owners.get(tx, id))
    const resourceType = owners.kind === 'projects' ? 'project' : 'workspace'
    await audit.record(tx, { action: 'update', organizationId, resourceType, resourceId: id })
    return result
  })
}

async function addTo(tx: Ctx, owner: Owner, bindings: readonly Binding[]): Promise<TagBinding[]> {
  const existing = await store.list(tx.db, owner.kind, [owner.id])
  const keys = [...existing, ...bindings].map((binding) => binding.key)
  await refuseInvalid(tx, owner, { bindings, keys, pointer: '/data' })
  const positions = new Map(existing.map((binding) => [binding.key, binding.position]))
  const next = Math.max(-1, ...positions.values()) + 1
  return save(tx, owner, bindings, (binding, index) => positions.get(binding.key) ?? next + index)
}

/**
 * Makes `bindings` all that the owner has; violations point below `pointer`. Part of a change to the owner
 * that the caller has authorized and whose row it has written.
 */
export async function replaceOn(
  tx: Ctx,
  owner: Owner,
  bindings: readonly Binding[],
  pointer: string,
): Promise<void> {
  const keys = bindings.map((binding) => binding.key)
  await refuseInvalid(tx, owner, { bindings, keys, pointer })
  await store.removeExcept(tx.db, owner.kind, owner.id, keys)
  await save(tx, owner, bindings, (_, index) => index)
}

async function save(
  tx: Ctx,
  { kind, id }: Owner,
  bindings: readonly Binding[],
  positionOf: (binding: Binding, index: number) => number,
): Promise<TagBinding[]> {
  const now = tx.now()
  const saved: TagBinding[] = []
  for (const [index, { key, value }] of bindings.entries()) {
    saved.push(
      await store.upsert(tx.db, kind, {
        id: newId('tb'),
        projectId: kind === 'projects' ? id : null,
        workspaceId: kind === 'workspaces' ? id : null,
        key,
        value,
        position: positionOf({ key, value }, index),
        createdAt: now,
        updatedAt: now,
      }),
    )
  }
  return saved
}

interface Proposal {
  /** What the request asks for. */
  bindings: readonly Binding[]
  /** Every key the owner would have afterwards. */
  keys: readonly string[]
  /** Where `bindings` stand in the request. */
  pointer: string
}

async function refuseInvalid(tx: Ctx, owner: Owner, proposal: Proposal): Promise<void> {
  const { bindings, keys, pointer } = proposal
  const violations: Violation[] = bindings.flatMap(({ key }, index) =>
    bindings.findIndex((binding) => binding.key === key) < index
      ? [{ detail: `Key ${key} is given more than once`, pointer: keyPointer(pointer, index) }]
      : [],
  )
  if (new Set(keys).size > MAX_BINDINGS) {
    violations.push({ detail: `Tag bindings cannot exceed ${MAX_BINDINGS} per resource`, pointer })
  }
  refuse([...violations, ...(await listOverrides(tx, owner, proposal))])
}

/**
 * What binds a key of the project that is reserved with `disable-overrides`. A binding from before the
 * reservation counts too: it stays in effect, but nothing else changes until it is removed.
 */
async function listOverrides(
  tx: Ctx,
  { organizationId, projectId }: Owner,
  { bindings, keys, pointer }: Proposal,
): Promise<Violation[]> {
  if (!projectId) return []
  const ofProject = new Set((await store.list(tx.db, 'projects', [projectId])).map((binding) => binding.key))
  const overriding = [...new Set(keys)].filter((key) => ofProject.has(key))
  const refused = await reservedTagKeys.listProtected(tx, organizationId, overriding)
  return refused.map((key) => {
    const index = bindings.findIndex((binding) => binding.key === key)
    return {
      detail: `Key ${key} is reserved, and its value in the project cannot be overridden`,
      pointer: index < 0 ? pointer : keyPointer(pointer, index),
    }
  })
}

function keyPointer(pointer: string, index: number): string {
  return `${pointer}/${index}/attributes/key`
}
