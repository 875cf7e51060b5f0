import type { Insertable, Selectable, Updateable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { LogChunkTable, LogTable } from './table.ts'

export type Log = Selectable<LogTable>

export type Chunk = Selectable<LogChunkTable>

export function find(db: Db, id: string): Promise<Log | undefined> {
  return db.selectFrom('logs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The log, which nobody else changes until the transaction ends. */
export function findForUpdate(db: Db, id: string): Promise<Log | undefined> {
  return db.selectFrom('logs').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

/** The chunks that hold bytes `from` to `to`, both included, in order. */
export function listChunks(db: Db, logId: string, from: number, to: number): Promise<Chunk[]> {
  return db
    .selectFrom('logChunks')
    .selectAll()
    .where('logId', '=', logId)
    .where('start', '>=', (eb) =>
      eb
        .selectFrom('logChunks as first')
        .select((first) => first.fn.max('first.start').as('start'))
        .where('first.logId', '=', logId)
        .where('first.start', '<=', from),
    )
    .where('start', '<=', to)
    .orderBy('start')
    .execute()
}

/** Logs that have ended and are still in the database, with the workspace that each is of. */
export function listEnded(db: Db, limit: number): Promise<{ id: string; workspaceId: string }[]> {
  return db
    .selectFrom('logs')
    .innerJoin('runs', 'runs.id', 'logs.runId')
    .select(['logs.id', 'runs.workspaceId'])
    .where('logs.ended', '=', true)
    .where('logs.blobKey', 'is', null)
    .limit(limit)
    .execute()
}

export async function insert(db: Db, row: Insertable<LogTable>): Promise<void> {
  await db.insertInto('logs').values(row).execute()
}

export async function insertChunk(db: Db, row: Insertable<LogChunkTable>): Promise<void> {
  await db.insertInto('logChunks').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<LogTable>): Promise<void> {
  await db.updateTable('logs').set(changes).where('id', '=', id).execute()
}

export async function removeChunks(db: Db, logId: string): Promise<void> {
  await db.deleteFrom('logChunks').where('logId', '=', logId).execute()
}
