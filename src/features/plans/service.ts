import { authorize, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import { getFile } from '../../blobs/files.ts'
import * as blobs from '../../blobs/store.ts'
import type { Ctx } from '../../context.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PhaseColumns, PhaseStatus } from '../../lib/phases.ts'
import * as logs from '../logs/service.ts'
import type { Plan } from './store.ts'
import * as store from './store.ts'
import type { PlanTable } from './table.ts'

export type { Plan } from './store.ts'

/** What a phase tells when its status changes. */
export type PhaseDetails = Partial<
  Pick<
    PhaseColumns,
    | 'executionDetails'
    | 'resourceAdditions'
    | 'resourceChanges'
    | 'resourceDestructions'
    | 'resourceImports'
    | 'error'
  >
>

type PlanDetails = PhaseDetails & Partial<Pick<PlanTable, 'hasChanges' | 'generatedConfiguration'>>

/** The columns of a plan or an apply of which nothing is known yet. */
export function newPhase(runId: string, prefix: 'plan' | 'apply', mode: string) {
  return {
    id: newId(prefix),
    runId,
    status: 'pending' as const,
    statusTimestamps: '{}',
    executionDetails: JSON.stringify({ mode }),
    resourceAdditions: null,
    resourceChanges: null,
    resourceDestructions: null,
    resourceImports: null,
    error: null,
  }
}

/** Makes the plan of a new run, which the caller has authorized; returns its id. */
export async function create(tx: Ctx, runId: string, mode: string): Promise<string> {
  const phase = newPhase(runId, 'plan', mode)
  await store.insert(tx.db, {
    ...phase,
    hasChanges: false,
    generatedConfiguration: false,
    planFileKey: null,
    lockFileKey: null,
    jsonOutputKey: null,
    jsonOutputRedactedKey: null,
    jsonSchemaKey: null,
  })
  await logs.open(tx, { id: phase.id, runId })
  return phase.id
}

/** The plan, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'runs:read'): Promise<Plan> {
  return getAuthorized(ctx, await store.find(ctx.db, id), permission)
}

/** The same by the id of the run. */
export async function getOfRun(ctx: Ctx, runId: string, permission: Permission = 'runs:read'): Promise<Plan> {
  return getAuthorized(ctx, await store.findOfRun(ctx.db, runId), permission)
}

async function getAuthorized(ctx: Ctx, plan: Plan | undefined, permission: Permission): Promise<Plan> {
  if (!plan) throw notFound()
  await authorize(ctx, permission, plan.organizationId)
  return plan
}

/** The plan, for those who carry it out and were authorized for that. */
export async function getForWorker(ctx: Ctx, id: string): Promise<Plan> {
  const plan = await store.find(ctx.db, id)
  if (!plan) throw notFound()
  return plan
}

/** Those of the plans that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Plan[]> {
  const plans = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(plans.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return plans.filter((_, index) => visible[index])
}

/** The files of a plan, and the columns that name them. */
const FILES = {
  plan: 'planFileKey',
  'lock-file': 'lockFileKey',
  'json-output': 'jsonOutputKey',
  'json-output-redacted': 'jsonOutputRedactedKey',
  'json-schema': 'jsonSchemaKey',
} as const

export type PlanFile = keyof typeof FILES

/** The key of a plan's file; null until there is one. */
export function keyOf(plan: Plan, file: PlanFile): string | null {
  return plan[FILES[file]]
}

/** Keeps a file of a plan whose worker the caller has authorized. The same bytes again change nothing. */
export async function keepFile(tx: Ctx, plan: Plan, file: PlanFile, staged: StagedBytes): Promise<void> {
  const known = keyOf(plan, file)
  if (known && (await getFile(tx, known)).sha256 === staged.sha256) return
  if (known) throw new AppError('conflict', `The ${file} of this plan was handed over already.`)
  const key = `plans/${plan.id}/${file}`
  await blobs.keep(tx.db, key, staged, tx.now(), plan.workspaceId)
  await store.update(tx.db, plan.id, { [FILES[file]]: key })
}

/** Notes how the plan is carried out, before it ends. */
export function describe(tx: Ctx, id: string, details: PlanDetails): Promise<void> {
  return store.update(tx.db, id, details)
}

/**
 * Takes the plan from one of the states `from` to `to`, together with its run: only `runs/advance.ts` calls it.
 * Returns whether it was in one of them.
 */
export async function move(
  tx: Ctx,
  id: string,
  from: readonly PhaseStatus[],
  to: PhaseStatus,
  timestamps: (before: string) => string,
  details: PlanDetails = {},
): Promise<boolean> {
  const plan = await store.find(tx.db, id)
  if (!plan || !from.includes(plan.status)) return false
  const statusTimestamps = timestamps(plan.statusTimestamps)
  return store.move(tx.db, id, plan.status, { ...details, status: to, statusTimestamps })
}
