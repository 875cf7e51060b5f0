import { can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import type { PhaseStatus } from '../../lib/phases.ts'
import * as logs from '../logs/service.ts'
import { newPhase, type PhaseDetails } from '../plans/service.ts'
import type { Apply } from './store.ts'
import * as store from './store.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only.
export { isWanted as isErroredStateWanted, keep as keepErroredState, recoveryUrl } from './errored-states.ts'
export { get } from './reading.ts'
export type { Apply } from './store.ts'

/** Makes the apply of a new run, which the caller has authorized; returns its id. */
export async function create(tx: Ctx, runId: string, mode: string): Promise<string> {
  const phase = newPhase(runId, 'apply', mode)
  await store.insert(tx.db, phase)
  await logs.open(tx, { id: phase.id, runId })
  return phase.id
}

/** Those of the applies that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Apply[]> {
  const applies = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(applies.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return applies.filter((_, index) => visible[index])
}

/** Notes how the apply is carried out, before it ends. */
export function describe(tx: Ctx, id: string, details: PhaseDetails): Promise<void> {
  return store.update(tx.db, id, details)
}

/**
 * Takes the apply from one of the states `from` to `to`, together with its run: only `runs/advance.ts` calls it.
 * Returns whether it was in one of them.
 */
export async function move(
  tx: Ctx,
  id: string,
  from: readonly PhaseStatus[],
  to: PhaseStatus,
  timestamps: (before: string) => string,
  details: PhaseDetails = {},
): Promise<boolean> {
  const apply = await store.find(tx.db, id)
  if (!apply || !from.includes(apply.status)) return false
  const statusTimestamps = timestamps(apply.statusTimestamps)
  return store.move(tx.db, id, apply.status, { ...details, status: to, statusTimestamps })
}
