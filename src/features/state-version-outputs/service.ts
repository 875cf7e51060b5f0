import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { StateOutput } from '../../lib/state-file.ts'
import * as workspaces from '../workspaces/service.ts'
import type { Output } from './store.ts'
import * as store from './store.ts'

export type { Output } from './store.ts'

/** Writes down the outputs of a new state version; part of finalizing it. */
export function write(tx: Ctx, stateVersionId: string, outputs: readonly StateOutput[]): Promise<void> {
  const rows = outputs.map(({ name, value, type, sensitive }) => ({
    id: newId('wsout'),
    stateVersionId,
    name,
    sensitive,
    type: wordFor(type, value),
    detailedType: JSON.stringify(type),
    value: tx.vault.seal(JSON.stringify(value)),
  }))
  return store.insert(tx.db, rows)
}

/** The outputs of a version as they were written, for a version that is made of it. */
export async function read(ctx: Ctx, stateVersionId: string): Promise<StateOutput[]> {
  const found = await store.listAll(ctx.db, stateVersionId)
  return found.map((output) => ({
    name: output.name,
    sensitive: output.sensitive,
    type: JSON.parse(output.detailedType),
    value: openValue(ctx, output),
  }))
}

/** What kind of JSON the value is: clients that know nothing of the engine's types read it. */
function wordFor(type: unknown, value: unknown): string {
  const [kind] = [type].flat()
  if (kind === 'string' || kind === 'number') return kind
  if (kind === 'bool') return 'boolean'
  if (kind === 'list' || kind === 'set' || kind === 'tuple') return 'array'
  if (kind === 'map' || kind === 'object') return 'object'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The output, if the subject may read those of its workspace; 404 otherwise. */
export async function get(ctx: Ctx, id: string): Promise<Output> {
  const output = await store.find(ctx.db, id)
  if (!output) throw notFound()
  await workspaces.get(ctx, { id: output.workspaceId }, 'state-versions:read-outputs')
  return output
}

/** One page of the outputs of a state version, by name. */
export async function list(ctx: Ctx, stateVersionId: string, page: PageRequest) {
  const workspaceId = await store.findWorkspace(ctx.db, stateVersionId)
  if (!workspaceId) throw notFound()
  await workspaces.get(ctx, { id: workspaceId }, 'state-versions:read-outputs')
  return store.list(ctx.db, stateVersionId, page)
}

/** All outputs of the current state of a workspace; none when it has no state. */
export async function listCurrent(ctx: Ctx, workspaceId: string): Promise<Output[]> {
  await workspaces.get(ctx, { id: workspaceId }, 'state-versions:read-outputs')
  const current = await store.findCurrent(ctx.db, workspaceId)
  return current ? store.listAll(ctx.db, current) : []
}

/** Those of the outputs that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Output[]> {
  const outputs = await store.listByIds(ctx.db, ids)
  const readable = await workspaces.readableAmong(
    ctx,
    outputs.map((output) => output.workspaceId),
    'state-versions:read-outputs',
  )
  return outputs.filter((output) => readable.has(output.workspaceId))
}

/** What the output is; the caller has authorized it. */
export function openValue(ctx: Ctx, output: Output): unknown {
  return JSON.parse(ctx.vault.open(output.value))
}
