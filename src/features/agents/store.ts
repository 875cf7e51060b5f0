import { type Insertable, type Selectable, sql } from 'kysely'
import { changesRows, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { AgentTable } from './table.ts'

/** An agent with what its pool has to say about it. */
export interface Agent extends Selectable<AgentTable> {
  agentPoolName: string
  organizationId: string
}

export interface AgentFilter {
  /** Only agents that were heard of at or after this moment. */
  since?: string | undefined
  descending?: boolean | undefined
}

function select(db: Db) {
  return db
    .selectFrom('agents')
    .innerJoin('agentPools', 'agentPools.id', 'agents.agentPoolId')
    .selectAll('agents')
    .select(['agentPools.name as agentPoolName', 'agentPools.organizationId'])
}

/** One page, oldest first unless `descending`. */
export function list(db: Db, agentPoolId: string, { since, descending }: AgentFilter, page: PageRequest) {
  const direction = descending ? 'desc' : 'asc'
  let agents = select(db).where('agents.agentPoolId', '=', agentPoolId)
  if (since) agents = agents.where('agents.lastPingAt', '>=', since)
  return paginate(agents.orderBy('agents.createdAt', direction).orderBy('agents.id', direction), page)
}

export function find(db: Db, id: string): Promise<Agent | undefined> {
  return select(db).where('agents.id', '=', id).executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<AgentTable>): Promise<void> {
  await db.insertInto('agents').values(row).execute()
}

/** Notes that the agent was heard of; it is busy while it holds an execution. */
export async function touch(db: Db, id: string, lastPingAt: string, ipAddress?: string): Promise<void> {
  const isBusy = sql`exists (select 1 from executions where worker_id = agents.id and state = 'running')`
  await db
    .updateTable('agents')
    .set({
      lastPingAt,
      ...(ipAddress !== undefined && { ipAddress }),
      status: sql<Agent['status']>`case when ${isBusy} then 'busy' else 'idle' end`,
    })
    .where('id', '=', id)
    .execute()
}

/** Notes that the agent has ended on purpose. */
export async function leave(db: Db, id: string, lastPingAt: string): Promise<void> {
  await db.updateTable('agents').set({ status: 'exited', lastPingAt }).where('id', '=', id).execute()
}

/** Gives agents in one of these states that were last heard of before `before` another one. */
export async function downgrade(
  db: Db,
  from: readonly Agent['status'][],
  before: string,
  status: Agent['status'],
): Promise<void> {
  await db
    .updateTable('agents')
    .set({ status })
    .where('status', 'in', from)
    .where('lastPingAt', '<', before)
    .execute()
}

/** Removes agents that have ended and were last heard of before `before`. */
export async function removeEnded(db: Db, before: string): Promise<void> {
  await db
    .deleteFrom('agents')
    .where('status', 'in', ['errored', 'exited'])
    .where('lastPingAt', '<', before)
    .execute()
}

/** Removes the agent if it has one of these states; whether it did. */
export async function remove(db: Db, id: string, statuses: readonly Agent['status'][]): Promise<boolean> {
  return changesRows(db.deleteFrom('agents').where('id', '=', id).where('status', 'in', statuses))
}
