import { authorize, can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { emptyPage, type Page, type PageRequest } from '../../lib/pagination.ts'
import * as organizations from '../organizations/service.ts'
import * as workspaces from '../workspaces/service.ts'
import { waitsForWorkspace } from './queue.ts'
import { get } from './reading.ts'
import type { Run } from './store.ts'
import * as store from './store.ts'

/** What a run waits for, and its place among those that wait for the same. */
export interface Waiting {
  waitsFor: 'configuration' | 'workspace' | 'run' | 'capacity' | 'worker' | 'agent' | 'confirmation' | null
  reason: string | null
  /** 1 is next; 0 when it does not wait. */
  position: number
  since: string | null
  blockedBy: string | null
}

const NOT_WAITING: Waiting = { waitsFor: null, reason: null, position: 0, since: null, blockedBy: null }

/** Why the run does not go on. */
export async function explain(ctx: Ctx, id: string): Promise<{ run: Run; waiting: Waiting }> {
  const run = await get(ctx, id)
  return { run, waiting: await waitingOf(ctx, run) }
}

async function waitingOf(ctx: Ctx, run: Run): Promise<Waiting> {
  const since = lastMoment(run)
  if (run.status === 'planned' || run.status === 'planned_and_saved') {
    const reason = 'Its plan waits to be confirmed or discarded.'
    return { waitsFor: 'confirmation', reason, position: 1, since, blockedBy: null }
  }
  if (run.status === 'pending' || run.status === 'confirmed') return waitingForWorkspace(ctx, run, since)
  if (run.status === 'plan_queued' || run.status === 'apply_queued') return waitingForWorker(ctx, run, since)
  return NOT_WAITING
}

async function waitingForWorkspace(ctx: Ctx, run: Run, since: string): Promise<Waiting> {
  const uploaded = await store.listUploaded(ctx.db, [run.configurationVersionId])
  if (!uploaded.has(run.configurationVersionId)) {
    const reason = 'Its configuration has not been uploaded yet.'
    return { waitsFor: 'configuration', reason, position: 1, since, blockedBy: null }
  }
  const waiting = (await store.listUnfinished(ctx.db, run.workspaceId)).filter(waitsForWorkspace)
  const position = waiting.findIndex(({ id }) => id === run.id) + 1
  const { lockedByRunId, locked } = await workspaces.reread(ctx, run.workspaceId)
  if (lockedByRunId) {
    const holder = await store.find(ctx.db, lockedByRunId)
    const reason = `Run ${lockedByRunId} has the workspace; it is ${holder?.status ?? 'about to end'}.`
    return { waitsFor: 'run', reason, position, since, blockedBy: lockedByRunId }
  }
  const reason = locked ? 'The workspace is locked.' : 'It is about to start.'
  return { waitsFor: 'workspace', reason, position, since, blockedBy: null }
}

async function waitingForWorker(ctx: Ctx, run: Run, since: string): Promise<Waiting> {
  const unfinished = await store.listUnfinishedOf(ctx.db, run.organizationId)
  const running = unfinished.filter(({ status }) => status === 'planning' || status === 'applying').length
  const queued = unfinished.filter(
    (other) =>
      (other.status === 'plan_queued' || other.status === 'apply_queued') &&
      other.agentPoolId === run.agentPoolId &&
      lastMoment(other) < since,
  )
  const position = queued.length + 1
  const limit = ctx.config.runs.organizationConcurrency
  if (running >= limit) {
    const reason = `The organization carries out ${running} runs, and no more than ${limit} at a time.`
    return { waitsFor: 'capacity', reason, position, since, blockedBy: null }
  }
  const waitsFor = run.agentPoolId ? 'agent' : 'worker'
  const reason = run.agentPoolId ? 'No agent of its pool has taken it yet.' : 'No worker has taken it yet.'
  return { waitsFor, reason, position, since, blockedBy: null }
}

/** When it came to its present state. */
function lastMoment({ statusTimestamps, createdAt }: Run): string {
  const moments: string[] = Object.values(JSON.parse(statusTimestamps))
  return [createdAt, ...moments].sort().at(-1) as string
}

/** The unfinished runs of an organization in the order in which they came, and the place of each. */
export async function queueOf(
  ctx: Ctx,
  organizationName: string,
  page: PageRequest,
): Promise<Page<{ run: Run; position: number }>> {
  const { id } = await organizations.getByName(ctx, organizationName, 'organizations:browse')
  if (!(await can(ctx, 'runs:read', id))) return emptyPage(page)
  const runs = (await store.listUnfinishedOf(ctx.db, id)).map((run, index) => ({ run, position: index + 1 }))
  const { number, size, offset } = page
  return { items: runs.slice(offset, offset + size), number, size, totalCount: runs.length }
}

/** How many runs of an organization wait, and how many are carried out. */
export async function capacityOf(ctx: Ctx, organizationName: string) {
  const { id, name } = await organizations.getByName(ctx, organizationName)
  await authorize(ctx, 'runs:read', id)
  const unfinished = await store.listUnfinishedOf(ctx.db, id)
  const running = unfinished.filter(({ status }) => status === 'planning' || status === 'applying').length
  const idle = unfinished.filter(
    ({ status }) => status === 'planned' || status === 'planned_and_saved',
  ).length
  return { name, running, pending: unfinished.length - running - idle }
}
