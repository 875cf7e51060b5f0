import type { Insertable, Selectable, Updateable } from 'kysely'
import { changesRows } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PhaseStatus } from '../../lib/phases.ts'
import type { PlanTable } from './table.ts'

/** A plan with what its run says about it. */
export interface Plan extends Selectable<PlanTable> {
  organizationId: string
  workspaceId: string
}

function select(db: Db) {
  return db
    .selectFrom('plans')
    .innerJoin('runs', 'runs.id', 'plans.runId')
    .selectAll('plans')
    .select(['runs.organizationId', 'runs.workspaceId'])
}

export function find(db: Db, id: string): Promise<Plan | undefined> {
  return select(db).where('plans.id', '=', id).executeTakeFirst()
}

export function findOfRun(db: Db, runId: string): Promise<Plan | undefined> {
  return select(db).where('plans.runId', '=', runId).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Plan[]> {
  return select(db).where('plans.id', 'in', ids).execute()
}

export async function insert(db: Db, row: Insertable<PlanTable>): Promise<void> {
  await db.insertInto('plans').values(row).execute()
}

/** Changes the plan if its status is still `from`; whether it did. */
export async function move(
  db: Db,
  id: string,
  from: PhaseStatus,
  changes: Updateable<PlanTable>,
): Promise<boolean> {
  return changesRows(db.updateTable('plans').set(changes).where('id', '=', id).where('status', '=', from))
}

export async function update(
  db: Db,
  id: string,
  changes: Omit<Updateable<PlanTable>, 'status'>,
): Promise<void> {
  await db.updateTable('plans').set(changes).where('id', '=', id).execute()
}
