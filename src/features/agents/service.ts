import { authorize, authorizeAgent } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { Assignment, Outcome } from '../../engine/channel.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { addSeconds, timestamp } from '../../lib/time.ts'
import * as agentPools from '../agent-pools/service.ts'
import * as audit from '../audit-trail/service.ts'
import * as executions from '../executions/service.ts'
import type { Agent, AgentFilter } from './store.ts'
import * as store from './store.ts'

export type { Agent, AgentFilter } from './store.ts'

/** Seconds of silence after which nobody knows what has become of an agent. */
const UNKNOWN_AFTER = 120

/** Seconds of silence after which it is taken to have failed. */
const ERRORED_AFTER = 2 * 3600

/** Seconds for which agents that have ended are shown. */
const FORGOTTEN_AFTER = 7 * 24 * 3600

/** An agent calls every second while it works; it is written down this often. */
const PING_PRECISION_MS = 10_000

/** How long an agent that asks for work waits for it, and how often it is looked for meanwhile. */
const CLAIM_MS = 20_000
const LOOK_MS = 1_000

const REMOVABLE = ['unknown', 'errored', 'exited'] as const

/** The agents of a pool; `since` is a time in whatever form of ISO 8601. */
export async function list(
  ctx: Ctx,
  agentPoolId: string,
  { since, descending }: AgentFilter,
  page: PageRequest,
) {
  await agentPools.get(ctx, agentPoolId)
  return store.list(ctx.db, agentPoolId, { since: since && parseTime(since), descending }, page)
}

function parseTime(text: string): string {
  const moment = new Date(text)
  if (!Number.isNaN(moment.getTime())) return timestamp(moment)
  const parameter = 'filter[last-ping-since]'
  throw new AppError('badRequest', `${parameter} must be a time in ISO 8601`, { parameter })
}

/** The agent, if the subject has `permission` in its organization; 404 otherwise. */
export async function get(ctx: Ctx, id: string, permission: Permission = 'agent-pools:read'): Promise<Agent> {
  const agent = await store.find(ctx.db, id)
  if (!agent) throw notFound()
  await authorize(ctx, permission, agent.organizationId)
  return agent
}

/** Forgets an agent, unless it is there. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const agent = await get(tx, id, 'agent-pools:manage')
    if (!(await store.remove(tx.db, id, REMOVABLE))) {
      const detail = `Agent is ${agent.status}: only one that is unknown, errored or exited can be deleted.`
      throw new AppError('preconditionFailed', detail)
    }
    await recordChange(tx, 'destroy', agent)
  })
}

/** Takes up an agent that has just started. */
export function register(
  ctx: Ctx,
  { name, version, ipAddress }: { name: string; version: string; ipAddress: string },
): Promise<Agent> {
  return inTransaction(ctx, async (tx) => {
    const { poolId } = authorizeAgent(tx)
    const id = newId('agent')
    const now = tx.now()
    const row = { id, agentPoolId: poolId, name, version, ipAddress, status: 'idle' as const }
    await store.insert(tx.db, { ...row, lastPingAt: now, createdAt: now }).catch((error: unknown) => {
      // Somebody has deleted the pool in the meantime.
      throw isForeignKeyViolation(error) ? notFound() : error
    })
    const agent = (await store.find(tx.db, id)) as Agent
    await recordChange(tx, 'create', agent)
    return agent
  })
}

/** Notes that an agent has ended on purpose. */
export function leave(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    await getOwn(tx, id)
    await store.leave(tx.db, id, tx.now())
  })
}

/** The agent, if the request comes from its pool; 404 otherwise. */
async function getOwn(ctx: Ctx, id: string): Promise<Agent> {
  const { poolId } = authorizeAgent(ctx)
  const agent = await store.find(ctx.db, id)
  if (agent?.agentPoolId !== poolId) throw notFound()
  return agent
}

/** The agent as the executions know it; 404 for one of another pool. */
export async function workerOf(ctx: Ctx, id: string): Promise<executions.Worker> {
  return toWorker(await getOwn(ctx, id))
}

function toWorker({ id, name, agentPoolId, agentPoolName }: Agent): executions.Worker {
  return { id, name, pool: { id: agentPoolId, name: agentPoolName } }
}

/** Gives the agent the next phase to carry out; waits for one until `signal` aborts, twenty seconds at most. */
export async function claim(
  ctx: Ctx,
  id: string,
  ipAddress: string,
  signal: AbortSignal,
): Promise<Assignment | undefined> {
  const worker = await workerOf(ctx, id)
  await touch(ctx, id, ipAddress)
  const until = AbortSignal.any([signal, AbortSignal.timeout(CLAIM_MS)])
  while (!until.aborted) {
    const assignment = await executions.claim(ctx, worker)
    if (assignment) {
      await touch(ctx, id)
      return assignment
    }
    await executions.waitForBell(LOOK_MS, until)
  }
  return undefined
}

/** Keeps the lease of an execution; returns whether the agent shall stop it. */
export async function heartbeat(ctx: Ctx, id: string, executionId: string) {
  const agent = await getOwn(ctx, id)
  if (Date.parse(ctx.now()) - Date.parse(agent.lastPingAt) > PING_PRECISION_MS) await touch(ctx, id)
  return executions.heartbeat(ctx, toWorker(agent), executionId)
}

/** Ends an execution. */
export async function finish(ctx: Ctx, id: string, executionId: string, outcome: Outcome): Promise<void> {
  await executions.finish(ctx, await workerOf(ctx, id), executionId, outcome)
  await touch(ctx, id)
}

function touch(ctx: Ctx, id: string, ipAddress?: string): Promise<void> {
  return inTransaction(ctx, (tx) => store.touch(tx.db, id, tx.now(), ipAddress))
}

/** Says of silent agents what their silence means, and forgets those that ended long ago. */
export function judgeSilence(ctx: Ctx): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const now = tx.now()
    await store.downgrade(tx.db, ['idle', 'busy'], addSeconds(now, -UNKNOWN_AFTER), 'unknown')
    await store.downgrade(tx.db, ['unknown'], addSeconds(now, -ERRORED_AFTER), 'errored')
    await store.removeEnded(tx.db, addSeconds(now, -FORGOTTEN_AFTER))
  })
}

function recordChange(tx: Ctx, action: string, agent: Agent): Promise<void> {
  const { id: resourceId, organizationId, name, agentPoolName } = agent
  const meta = { name, 'agent-pool': agentPoolName }
  return audit.record(tx, { action, organizationId, resourceType: 'agent', resourceId, meta })
}
