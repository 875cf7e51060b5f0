import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { among, changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { type RunStatus, statesThat } from './status.ts'
import type { RunTable } from './table.ts'

/** A run with what belongs to it. */
export interface Run extends Selectable<RunTable> {
  planId: string
  applyId: string
  workspaceName: string
  organizationName: string
}

export interface RunFilter {
  organizationId?: string
  workspaceId?: string
  /** Only these states. */
  statuses?: readonly string[] | undefined
  sources?: readonly string[] | undefined
  /** Such as `plan_only`; see `OPERATIONS`. */
  operations?: readonly string[] | undefined
  agentPoolNames?: readonly string[] | undefined
  workspaceNames?: readonly string[] | undefined
  /** Made at or after this moment, and before the other. */
  createdFrom?: string | undefined
  createdBefore?: string | undefined
  /** The name of who made it. */
  user?: string | undefined
  /** Part of the message, the id, or the name of who made it. */
  text?: string | undefined
}

function select(db: Db) {
  return db
    .selectFrom('runs')
    .innerJoin('plans', 'plans.runId', 'runs.id')
    .innerJoin('applies', 'applies.runId', 'runs.id')
    .innerJoin('workspaces', 'workspaces.id', 'runs.workspaceId')
    .innerJoin('organizations', 'organizations.id', 'runs.organizationId')
    .selectAll('runs')
    .select([
      'plans.id as planId',
      'applies.id as applyId',
      'workspaces.name as workspaceName',
      'organizations.name as organizationName',
    ])
}

type Operation = (typeof OPERATIONS)[number]

/** What runs are for, by the names that filters have. */
export const OPERATIONS = [
  'plan_only',
  'plan_and_apply',
  'save_plan',
  'refresh_only',
  'destroy',
  'empty_apply',
] as const

const IS_OPERATION: Record<Operation, ReturnType<typeof sql<boolean>>> = {
  plan_only: sql<boolean>`runs.plan_only`,
  plan_and_apply: sql<boolean>`not (runs.plan_only or runs.save_plan or runs.refresh_only or runs.is_destroy or runs.allow_empty_apply)`,
  save_plan: sql<boolean>`runs.save_plan`,
  refresh_only: sql<boolean>`runs.refresh_only`,
  destroy: sql<boolean>`runs.is_destroy`,
  empty_apply: sql<boolean>`runs.allow_empty_apply`,
}

/** One page, the newest first: clients count those after theirs as being ahead of it. */
export function list(db: Db, filter: RunFilter, page: PageRequest) {
  const { organizationId, workspaceId, createdFrom, createdBefore, user, text } = filter
  let runs = select(db)
  if (organizationId) runs = runs.where('runs.organizationId', '=', organizationId)
  if (workspaceId) runs = runs.where('runs.workspaceId', '=', workspaceId)
  if (filter.statuses)
    runs = runs.where((eb) => among(eb, 'runs.status', filter.statuses as readonly string[]))
  if (filter.sources) runs = runs.where((eb) => among(eb, 'runs.source', filter.sources as readonly string[]))
  if (filter.workspaceNames) {
    runs = runs.where((eb) => among(eb, 'workspaces.name', filter.workspaceNames as readonly string[]))
  }
  if (filter.agentPoolNames) runs = runs.where(hasAgentPool(filter.agentPoolNames))
  if (filter.operations) runs = runs.where(isOperation(filter.operations))
  if (createdFrom) runs = runs.where('runs.createdAt', '>=', createdFrom)
  if (createdBefore) runs = runs.where('runs.createdAt', '<', createdBefore)
  if (user) runs = runs.where(wasMadeBy(user))
  if (text) {
    runs = runs.where((eb) =>
      eb.or([contains(eb, 'runs.message', text), eb('runs.id', '=', text), wasMadeBy(text)]),
    )
  }
  return paginate(runs.orderBy('runs.createdAt', 'desc').orderBy('runs.id', 'desc'), page)
}

function isOperation(operations: readonly string[]) {
  const known = operations.flatMap((name) => IS_OPERATION[name as Operation] ?? [])
  return known.length > 0 ? sql<boolean>`(${sql.join(known, sql` or `)})` : sql<boolean>`1 = 0`
}

function hasAgentPool(names: readonly string[]) {
  if (names.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`exists (select 1 from agent_pools
    where agent_pools.id = runs.agent_pool_id and agent_pools.name in (${sql.join(names)}))`
}

function wasMadeBy(name: string) {
  return sql<boolean>`exists (select 1 from users
    where users.id = runs.created_by_user_id and lower(users.username) = lower(${name}))`
}

export function find(db: Db, id: string): Promise<Run | undefined> {
  return select(db).where('runs.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Run[]> {
  return select(db).where('runs.id', 'in', ids).execute()
}

export async function insert(db: Db, row: Insertable<RunTable>): Promise<void> {
  await db.insertInto('runs').values(row).execute()
}

/** Changes the run if its status is still `from`; whether it did. */
export async function move(
  db: Db,
  id: string,
  from: RunStatus,
  changes: Updateable<RunTable>,
): Promise<boolean> {
  return changesRows(db.updateTable('runs').set(changes).where('id', '=', id).where('status', '=', from))
}

export async function update(
  db: Db,
  id: string,
  changes: Omit<Updateable<RunTable>, 'status'>,
): Promise<void> {
  await db.updateTable('runs').set(changes).where('id', '=', id).execute()
}

/** Runs of the workspace that are not final, the oldest first. */
export function listUnfinished(db: Db, workspaceId: string): Promise<Run[]> {
  return select(db)
    .where('runs.workspaceId', '=', workspaceId)
    .where('runs.status', 'in', statesThat(false))
    .orderBy('runs.createdAt')
    .orderBy('runs.id')
    .execute()
}

/** The same of an organization. */
export function listUnfinishedOf(db: Db, organizationId: string): Promise<Run[]> {
  return select(db)
    .where('runs.organizationId', '=', organizationId)
    .where('runs.status', 'in', statesThat(false))
    .orderBy('runs.createdAt')
    .orderBy('runs.id')
    .execute()
}

/** Those of the configuration versions that can be planned. */
export async function listUploaded(db: Db, configurationVersionIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('configurationVersions')
    .select('id')
    .where((eb) => among(eb, 'id', configurationVersionIds))
    .where('status', '=', 'uploaded')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Workspaces in which a run waits that might start. */
export async function listWaitingWorkspaces(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('workspaces', 'workspaces.id', 'runs.workspaceId')
    .select('runs.workspaceId')
    .distinct()
    .where('runs.status', 'in', ['pending', 'confirmed'])
    .where('workspaces.locked', '=', false)
    .execute()
  return rows.map(({ workspaceId }) => workspaceId)
}
