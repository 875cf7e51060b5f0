import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refuse } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import type { VariableAttributes } from '../vars/service.ts'
import * as vars from '../vars/service.ts'
import { get, getManaged } from './reading.ts'
import type { Varset, VarsetVar } from './store.ts'
import * as store from './store.ts'

const POINTER = '/data/attributes'

/** What a set is for its variables. */
type Owner = Pick<Varset, 'id' | 'organizationId' | 'global'>

/** The variables of a set, all of them, in the order they were made. */
export async function list(ctx: Ctx, varsetId: string): Promise<VarsetVar[]> {
  const { id } = await get(ctx, varsetId)
  return store.listVars(ctx.db, [id])
}

/** Those of the variables that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<VarsetVar[]> {
  const found = await store.listVarsByIds(ctx.db, ids)
  const visible = await Promise.all(found.map((each) => can(ctx, 'variable-sets:read', each.organizationId)))
  return found.filter((_, index) => visible[index])
}

/** The variable of the set, if the subject may see it; 404 otherwise. */
export async function show(ctx: Ctx, varsetId: string, id: string): Promise<VarsetVar> {
  await get(ctx, varsetId)
  return findIn(ctx, varsetId, id)
}

/** The same, if the subject may change it. */
export async function showManaged(ctx: Ctx, varsetId: string, id: string): Promise<VarsetVar> {
  await getManaged(ctx, varsetId)
  return findIn(ctx, varsetId, id)
}

async function findIn(ctx: Ctx, varsetId: string, id: string): Promise<VarsetVar> {
  const variable = await store.findVar(ctx.db, id)
  if (variable?.varsetId !== varsetId) throw notFound()
  return variable
}

export function create(ctx: Ctx, varsetId: string, attributes: VariableAttributes): Promise<VarsetVar> {
  return inTransaction(ctx, async (tx) => {
    await getManaged(tx, varsetId)
    return add(tx, await hold(tx, varsetId), attributes, POINTER)
  })
}

/** Changes a variable; also without a change it gets a new version. */
export function update(
  ctx: Ctx,
  varsetId: string,
  id: string,
  attributes: VariableAttributes,
): Promise<VarsetVar> {
  return inTransaction(ctx, async (tx) => {
    await getManaged(tx, varsetId)
    const set = await hold(tx, varsetId)
    return change(tx, set, await findIn(tx, varsetId, id), attributes, POINTER)
  })
}

export function remove(ctx: Ctx, varsetId: string, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const variable = await showManaged(tx, varsetId, id)
    if (!(await store.removeVar(tx.db, id))) throw notFound()
    await recordChange(tx, 'destroy', variable)
  })
}

/** The set as it will be until the transaction ends, so that nobody makes it global while it gets variables. */
async function hold(tx: Ctx, id: string): Promise<Owner> {
  const set = await store.hold(tx.db, id)
  if (!set) throw notFound()
  return set
}

/**
 * Writes the variables that were given together with a set that the caller holds: adds those without an id, changes
 * those that have the id of one of the set.
 */
export async function write(
  tx: Ctx,
  set: Owner,
  given: readonly (VariableAttributes & { id?: string })[],
  pointer: string,
): Promise<void> {
  const known = await store.listVars(tx.db, [set.id])
  refuse(
    given.flatMap(({ id }, index) =>
      id === undefined || known.some((each) => each.id === id)
        ? []
        : [{ detail: 'Variable does not exist', pointer: `${pointer}/${index}/id` }],
    ),
  )
  for (const [index, { id, ...attributes }] of given.entries()) {
    const at = `${pointer}/${index}/attributes`
    const variable = known.find((each) => each.id === id)
    if (!variable) await add(tx, set, attributes, at)
    else if (Object.keys(attributes).length > 0) await change(tx, set, variable, attributes, at)
  }
}

async function add(tx: Ctx, set: Owner, attributes: VariableAttributes, pointer: string): Promise<VarsetVar> {
  const columns = vars.columnsOf(tx, attributes, pointer)
  await refuseGlobalTwin(tx, set, columns, pointer)
  await store
    .insertVar(tx.db, { ...columns, varsetId: set.id, globalIn: set.global ? set.organizationId : null })
    .catch(vars.refuseConflict(pointer))
  return finish(tx, 'create', columns.id)
}

async function change(
  tx: Ctx,
  set: Owner,
  variable: VarsetVar,
  attributes: VariableAttributes,
  pointer: string,
): Promise<VarsetVar> {
  const changes = vars.changesOf(tx, variable, attributes, pointer)
  await refuseGlobalTwin(tx, set, changes, pointer)
  await store.updateVar(tx.db, variable.id, changes).catch(vars.refuseConflict(pointer))
  return finish(tx, 'update', variable.id)
}

async function finish(tx: Ctx, action: string, id: string): Promise<VarsetVar> {
  const written = await store.findVar(tx.db, id)
  if (!written) throw notFound()
  await recordChange(tx, action, written)
  return written
}

/** Two global sets cannot have the same variable: nothing would say which one counts. */
async function refuseGlobalTwin(
  tx: Ctx,
  set: Owner,
  { key, category }: { key: string; category: string },
  pointer: string,
): Promise<void> {
  if (!set.global) return
  const others = await store.listGlobalVars(tx.db, set.organizationId, set.id)
  const twin = others.find((other) => other.key === key && other.category === category)
  const detail = `Key has already been taken in the global variable set ${twin?.varsetName}`
  refuse(twin ? [{ detail, pointer: `${pointer}/key` }] : [])
}

/** Never with the value, sensitive or not. */
function recordChange(tx: Ctx, action: string, variable: VarsetVar): Promise<void> {
  const { id: resourceId, organizationId, varsetId, key, category } = variable
  const meta = { key, category, varset: varsetId }
  return audit.record(tx, { action, organizationId, resourceType: 'var', resourceId, meta })
}
