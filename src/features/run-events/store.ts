import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { RunEventTable } from './table.ts'

export interface RunEvent extends Selectable<RunEventTable> {
  organizationId: string
}

function select(db: Db) {
  return db
    .selectFrom('runEvents')
    .innerJoin('runs', 'runs.id', 'runEvents.runId')
    .selectAll('runEvents')
    .select('runs.organizationId')
}

/** The first `limit`, in the order in which they happened. */
export function list(db: Db, runId: string, limit: number): Promise<RunEvent[]> {
  return select(db)
    .where('runEvents.runId', '=', runId)
    .orderBy('runEvents.position')
    .orderBy('runEvents.id')
    .limit(limit)
    .execute()
}

export function find(db: Db, id: string): Promise<RunEvent | undefined> {
  return select(db).where('runEvents.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<RunEvent[]> {
  return select(db).where('runEvents.id', 'in', ids).execute()
}

/** Adds an event after those that are there. */
export async function insert(db: Db, row: Omit<Insertable<RunEventTable>, 'position'>): Promise<void> {
  const { last } = await db
    .selectFrom('runEvents')
    .select(({ fn }) => fn.max('position').as('last'))
    .where('runId', '=', row.runId)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('runEvents')
    .values({ ...row, position: (last ?? 0) + 1 })
    .execute()
}
