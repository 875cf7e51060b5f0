import type { Insertable, Selectable, Updateable } from 'kysely'
import { changesRows } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PhaseStatus } from '../../lib/phases.ts'
import type { ApplyTable } from './table.ts'

/** An apply with what its run says about it. */
export interface Apply extends Selectable<ApplyTable> {
  organizationId: string
  workspaceId: string
  /** Versions of the state that it made, the oldest first. */
  stateVersionIds: string[]
}

function select(db: Db) {
  return db
    .selectFrom('applies')
    .innerJoin('runs', 'runs.id', 'applies.runId')
    .selectAll('applies')
    .select(['runs.organizationId', 'runs.workspaceId'])
}

async function withStateVersions(db: Db, applies: Omit<Apply, 'stateVersionIds'>[]): Promise<Apply[]> {
  if (applies.length === 0) return []
  const versions = await db
    .selectFrom('stateVersions')
    .select(['id', 'runId'])
    .where(
      'runId',
      'in',
      applies.map((apply) => apply.runId),
    )
    .where('status', '=', 'finalized')
    .orderBy('sequence')
    .execute()
  return applies.map((apply) => ({
    ...apply,
    stateVersionIds: versions.filter(({ runId }) => runId === apply.runId).map(({ id }) => id),
  }))
}

export async function find(db: Db, id: string): Promise<Apply | undefined> {
  const found = await select(db).where('applies.id', '=', id).execute()
  return (await withStateVersions(db, found))[0]
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<Apply[]> {
  return withStateVersions(db, await select(db).where('applies.id', 'in', ids).execute())
}

export async function insert(db: Db, row: Insertable<ApplyTable>): Promise<void> {
  await db.insertInto('applies').values(row).execute()
}

/** Changes the apply if its status is still `from`; whether it did. */
export async function move(
  db: Db,
  id: string,
  from: PhaseStatus,
  changes: Updateable<ApplyTable>,
): Promise<boolean> {
  return changesRows(db.updateTable('applies').set(changes).where('id', '=', id).where('status', '=', from))
}

export async function update(
  db: Db,
  id: string,
  changes: Omit<Updateable<ApplyTable>, 'status'>,
): Promise<void> {
  await db.updateTable('applies').set(changes).where('id', '=', id).execute()
}
