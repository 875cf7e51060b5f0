import { type Insertable, type Selectable, sql } from 'kysely'
import { changesRows } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { ExecutionTable } from './table.ts'

export type Execution = Selectable<ExecutionTable>

export async function insert(db: Db, row: Insertable<ExecutionTable>): Promise<void> {
  await db.insertInto('executions').values(row).execute()
}

export function find(db: Db, id: string): Promise<Execution | undefined> {
  return db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findOfRun(db: Db, runId: string, phase: Execution['phase']): Promise<Execution | undefined> {
  return db
    .selectFrom('executions')
    .selectAll()
    .where('runId', '=', runId)
    .where('phase', '=', phase)
    .executeTakeFirst()
}

/**
 * What a worker of the pool (or of the server, for null) takes next: of the workspace in which the fewest are carried
 * out, what has waited longest. Organizations that carry out `limit` already are passed over. Nobody else is given
 * the same while the transaction is open.
 */
export function findNext(db: Db, agentPoolId: string | null, limit: number): Promise<Execution | undefined> {
  const runningIn = (
    column: 'organization_id' | 'workspace_id',
  ) => sql<number>`(select count(*) from executions other
    where other.state = 'running' and other.${sql.ref(column)} = executions.${sql.ref(column)})`
  return db
    .selectFrom('executions')
    .selectAll()
    .where('state', '=', 'queued')
    .where('agentPoolId', 'is not distinct from', agentPoolId)
    .where(sql<boolean>`${runningIn('organization_id')} < ${limit}`)
    .orderBy(runningIn('workspace_id'))
    .orderBy('queuedAt')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
}

/** How many are carried out in the organization, which nobody can change before the transaction has ended. */
export async function countRunning(db: Db, organizationId: string): Promise<number> {
  await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
  const { count } = await db
    .selectFrom('executions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organizationId', '=', organizationId)
    .where('state', '=', 'running')
    .executeTakeFirstOrThrow()
  return count
}

/** Gives a queued execution to a worker; whether it was still queued. */
export function start(
  db: Db,
  id: string,
  worker: { workerId: string; startedAt: string; leaseEndsAt: string },
): Promise<boolean> {
  return change(db, id, ['queued'], { ...worker, state: 'running' })
}

/** Extends the lease of a running execution that the worker holds; whether it does. */
export async function extend(db: Db, id: string, workerId: string, leaseEndsAt: string): Promise<boolean> {
  return changesRows(
    db
      .updateTable('executions')
      .set({ leaseEndsAt })
      .where('id', '=', id)
      .where('workerId', '=', workerId)
      .where('state', '=', 'running'),
  )
}

/** Ends an execution that is in one of these states; whether it was. */
export function end(
  db: Db,
  id: string,
  from: readonly Execution['state'][],
  endedAt: string,
): Promise<boolean> {
  return change(db, id, from, { state: 'ended', endedAt })
}

/** Asks the worker of a running execution to stop; whether there is one. */
export function requestStop(db: Db, id: string, cancel: 'cancel' | 'force'): Promise<boolean> {
  return change(db, id, ['running'], { cancel })
}

/** What is carried out now, the oldest first. */
export function listRunning(db: Db): Promise<Execution[]> {
  return db
    .selectFrom('executions')
    .selectAll()
    .where('state', '=', 'running')
    .orderBy('startedAt')
    .orderBy('id')
    .execute()
}

async function change(
  db: Db,
  id: string,
  from: readonly Execution['state'][],
  changes: Partial<
    Pick<Execution, 'state' | 'workerId' | 'startedAt' | 'leaseEndsAt' | 'endedAt' | 'cancel'>
  >,
): Promise<boolean> {
  return changesRows(
    db.updateTable('executions').set(changes).where('id', '=', id).where('state', 'in', from),
  )
}
