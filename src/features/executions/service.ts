import type { Readable } from 'node:stream'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import type { Ctx } from '../../context.ts'
import { afterCommit, inTransaction } from '../../db/transaction.ts'
import type { Assignment, Fetched, Outcome, Produced, Report } from '../../engine/channel.ts'
import { newId } from '../../lib/ids.ts'
import { addSeconds } from '../../lib/time.ts'
import * as applies from '../applies/service.ts'
import * as configurationVersions from '../configuration-versions/service.ts'
import * as logs from '../logs/service.ts'
import * as plans from '../plans/service.ts'
import type { Phase, Run } from '../runs/service.ts'
import * as runs from '../runs/service.ts'
import * as stateVersions from '../state-versions/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { assignmentOf } from './assignment.ts'
import { ring } from './bell.ts'
import { conclude } from './endings.ts'
import type { Execution } from './store.ts'
import * as store from './store.ts'
import { authorizeWorker, getHeld, getHeldRun, lost, type Worker } from './worker.ts'

// biome-ignore lint/performance/noBarrelFile: other slices reach this one by its service only.
export { waitForBell } from './bell.ts'
export type { Worker } from './worker.ts'

/** Seconds without a word after which a worker is taken for dead. */
export const LEASE_SECONDS = 30

/** Makes a phase available to workers; the runs call it in the transaction that queues it. */
export async function queue(tx: Ctx, run: Run, phase: Phase): Promise<void> {
  await store.insert(tx.db, {
    id: newId('exec'),
    organizationId: run.organizationId,
    workspaceId: run.workspaceId,
    runId: run.id,
    phase,
    agentPoolId: run.agentPoolId,
    state: 'queued',
    workerId: null,
    leaseEndsAt: null,
    cancel: null,
    queuedAt: tx.now(),
    startedAt: null,
    endedAt: null,
  })
  afterCommit(ring)
}

/** Ends a phase that no worker has begun, and returns true; tells the worker to stop otherwise. */
export async function stop(tx: Ctx, run: Run, phase: Phase, how: 'cancel' | 'force'): Promise<boolean> {
  const execution = await store.findOfRun(tx.db, run.id, phase)
  if (!execution || (await store.end(tx.db, execution.id, ['queued'], tx.now()))) return true
  return !(await store.requestStop(tx.db, execution.id, how))
}

/** Gives the worker the next phase to carry out, if there is one. */
export async function claim(ctx: Ctx, worker: Worker): Promise<Assignment | undefined> {
  authorizeWorker(ctx, worker)
  const limit = ctx.config.runs.organizationConcurrency
  return inTransaction(ctx, async (tx) => {
    const next = await store.findNext(tx.db, worker.pool?.id ?? null, limit)
    if (!next || (await store.countRunning(tx.db, next.organizationId)) >= limit) return undefined
    const startedAt = tx.now()
    const leaseEndsAt = addSeconds(startedAt, LEASE_SECONDS)
    if (!(await store.start(tx.db, next.id, { workerId: worker.id, startedAt, leaseEndsAt })))
      return undefined
    return begin(tx, worker, next)
  })
}

async function begin(tx: Ctx, worker: Worker, execution: Execution): Promise<Assignment | undefined> {
  const run = await runs.find(tx, execution.runId)
  const executionDetails = JSON.stringify(detailsOf(worker))
  const event = execution.phase === 'plan' ? 'startPlan' : 'startApply'
  const started =
    run && (await runs.advanceIfAllowed(tx, run, event, { [execution.phase]: { executionDetails } }))
  if (started) return assignmentOf(tx, execution, started)
  await store.end(tx.db, execution.id, ['running'], tx.now())
  return undefined
}

/** How an apply or a plan shows who carries it out (spec, 2.2). */
function detailsOf({ id, name, pool }: Worker) {
  if (!pool) return { mode: 'remote' }
  return {
    mode: 'agent',
    'agent-id': id,
    'agent-name': name,
    'agent-pool-id': pool.id,
    'agent-pool-name': pool.name,
  }
}

/** Keeps the lease; returns whether the worker shall stop. */
export async function heartbeat(ctx: Ctx, worker: Worker, id: string): Promise<Execution['cancel']> {
  const execution = await getHeld(ctx, worker, id)
  // Asked every second for the sake of those who cancel; written less often.
  const remaining = Date.parse(execution.leaseEndsAt ?? '') - Date.parse(ctx.now())
  if (remaining > LEASE_SECONDS * 800) return execution.cancel
  const leaseEndsAt = addSeconds(ctx.now(), LEASE_SECONDS)
  const held = await inTransaction(ctx, (tx) => store.extend(tx.db, id, worker.id, leaseEndsAt))
  if (!held) throw lost()
  return execution.cancel
}

/** Notes what the worker found out about itself. */
export function report(
  ctx: Ctx,
  worker: Worker,
  id: string,
  { terraformVersion, sandbox }: Report,
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { execution, run } = await getHeldRun(tx, worker, id)
    const executionDetails = JSON.stringify({ ...detailsOf(worker), sandbox })
    if (execution.phase === 'plan') await plans.describe(tx, run.planId, { executionDetails })
    else await applies.describe(tx, run.applyId, { executionDetails })
    if (run.terraformVersion !== terraformVersion) await runs.describe(tx, run.id, { terraformVersion })
  })
}

/** Appends to the log of the phase; `start` counts the bytes of the worker, so that a repetition is dropped. */
export function appendLog(ctx: Ctx, worker: Worker, id: string, start: number, text: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { execution, run } = await getHeldRun(tx, worker, id)
    await logs.append(tx, execution.phase === 'plan' ? run.planId : run.applyId, text, start)
  })
}

/** Opens one of the files that the phase needs; undefined when there is none. */
export async function fetchFile(
  ctx: Ctx,
  worker: Worker,
  id: string,
  file: Fetched,
): Promise<Readable | undefined> {
  const { run } = await getHeldRun(ctx, worker, id)
  if (file === 'configuration') return configurationVersions.open(ctx, run.configurationVersionId)
  if (file === 'state') return stateVersions.openRaw(ctx, run.workspaceId)
  const key = plans.keyOf(await plans.getForWorker(ctx, run.planId), file)
  return key === null ? undefined : ctx.sealed.read(key)
}

/** Keeps one of the files that a plan makes. */
export function produce(
  ctx: Ctx,
  worker: Worker,
  id: string,
  file: Produced,
  staged: StagedBytes,
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { run } = await getHeldRun(tx, worker, id)
    await plans.keepFile(tx, await plans.getForWorker(tx, run.planId), file, staged)
  })
}

/** Makes the state of an apply the workspace's, unless it cannot be accepted. */
export async function saveState(
  ctx: Ctx,
  worker: Worker,
  id: string,
  raw: StagedBytes,
  json: StagedBytes | undefined,
): Promise<void> {
  await getHeld(ctx, worker, id)
  const received = { raw, json, file: await stateVersions.inspect(raw) }
  await inTransaction(ctx, async (tx) => {
    const { workspaceId } = await getHeld(tx, worker, id)
    await workspaces.hold(tx, workspaceId)
    const { run } = await getHeldRun(tx, worker, id)
    const maker = {
      workspaceId,
      runId: run.id,
      userId: run.confirmedByUserId ?? run.createdByUserId,
      teamId: run.createdByTeamId,
    }
    await stateVersions.saveOfRun(tx, maker, received)
  })
}

/** Ends the phase, and with it the log; what follows begins. Told twice, it counts once. */
export function finish(ctx: Ctx, worker: Worker, id: string, outcome: Outcome): Promise<void> {
  authorizeWorker(ctx, worker)
  return inTransaction(ctx, async (tx) => {
    const found = await store.find(tx.db, id)
    if (found?.workerId !== worker.id) throw lost()
    await workspaces.hold(tx, found.workspaceId)
    const execution = await store.find(tx.db, id)
    if (execution?.state === 'running') await conclude(tx, execution, outcome)
  })
}
