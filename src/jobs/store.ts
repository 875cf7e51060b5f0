import type { Insertable, Selectable } from 'kysely'
import { changesRows } from '../db/queries.ts'
import type { Db } from '../db/transaction.ts'
import type { JobTable } from './table.ts'

export type JobRow = Selectable<JobTable>

export async function insert(db: Db, row: Insertable<JobTable>): Promise<void> {
  await db.insertInto('jobs').values(row).execute()
}

/** Makes a repeating job unless it exists. */
export async function insertSchedule(db: Db, row: Insertable<JobTable>): Promise<void> {
  await db
    .insertInto('jobs')
    .values(row)
    .onConflict((conflict) => conflict.column('schedule').doNothing())
    .execute()
}

/** Takes the job that has waited longest, among those called `names`; the claim is part of its transaction. */
export function claim(db: Db, names: readonly string[], now: string): Promise<JobRow | undefined> {
  return db
    .updateTable('jobs')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('jobs')
        .select('id')
        .where('state', '=', 'waiting')
        .where('runAt', '<=', now)
        .where('name', 'in', names)
        .orderBy('runAt')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()
}

/** Whether this claim still holds the job; `attempts` tells it from a later claim after the lease ran out. */
export async function extend(db: Db, { id, attempts }: JobRow, leaseEnd: string): Promise<boolean> {
  return changesRows(
    db.updateTable('jobs').set({ runAt: leaseEnd }).where('id', '=', id).where('attempts', '=', attempts),
  )
}

/** Puts a job back, to be claimed from `runAt` on. */
export async function release(
  db: Db,
  { id, attempts }: JobRow,
  changes: { runAt: string; lastError: string | null; attempts?: number; state?: JobRow['state'] },
): Promise<void> {
  await db.updateTable('jobs').set(changes).where('id', '=', id).where('attempts', '=', attempts).execute()
}

export async function remove(db: Db, { id, attempts }: JobRow): Promise<void> {
  await db.deleteFrom('jobs').where('id', '=', id).where('attempts', '=', attempts).execute()
}

/** How many jobs there are in each state. */
export function countByState(db: Db) {
  return db
    .selectFrom('jobs')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
}
