import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { StateVersionTable } from './table.ts'

type Row = Selectable<StateVersionTable>

/** A state version with what is known of its files and its outputs. */
export interface StateVersion extends Row {
  outputIds: string[]
}

function select(db: Db) {
  return db.selectFrom('stateVersions').selectAll('stateVersions')
}

async function withOutputs(db: Db, rows: Row[]): Promise<StateVersion[]> {
  if (rows.length === 0) return []
  const outputs = await db
    .selectFrom('stateVersionOutputs')
    .select(['id', 'stateVersionId'])
    .where(
      'stateVersionId',
      'in',
      rows.map((row) => row.id),
    )
    .orderBy('name')
    .execute()
  const idsOf = Map.groupBy(outputs, (output) => output.stateVersionId)
  return rows.map((row) => ({ ...row, outputIds: (idsOf.get(row.id) ?? []).map(({ id }) => id) }))
}

export async function find(db: Db, id: string): Promise<StateVersion | undefined> {
  const found = await select(db).where('id', '=', id).execute()
  return (await withOutputs(db, found))[0]
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<StateVersion[]> {
  return withOutputs(db, await select(db).where('id', 'in', ids).execute())
}

/** One page, the newest first. */
export async function list(
  db: Db,
  workspaceId: string,
  statuses: readonly Row['status'][] | undefined,
  page: PageRequest,
) {
  let versions = select(db).where('workspaceId', '=', workspaceId)
  if (statuses) versions = versions.where('status', 'in', statuses)
  const found = await paginate(versions.orderBy('createdAt', 'desc').orderBy('id', 'desc'), page)
  return { ...found, items: await withOutputs(db, found.items) }
}

/** The finalized version that counts. */
export async function findCurrent(db: Db, workspaceId: string): Promise<StateVersion | undefined> {
  const found = await select(db)
    .where('workspaceId', '=', workspaceId)
    .where('sequence', 'is not', null)
    .orderBy('sequence', 'desc')
    .limit(1)
    .execute()
  return (await withOutputs(db, found))[0]
}

/** The newest version, whatever its status. */
export function findLatest(db: Db, workspaceId: string): Promise<Row | undefined> {
  return select(db)
    .where('workspaceId', '=', workspaceId)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<StateVersionTable>): Promise<void> {
  await db.insertInto('stateVersions').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<StateVersionTable>): Promise<void> {
  await db.updateTable('stateVersions').set(changes).where('id', '=', id).execute()
}

/** Gives up what was announced for the workspace and has not come. */
export async function discardPending(db: Db, workspaceId: string): Promise<void> {
  await db
    .updateTable('stateVersions')
    .set({ status: 'discarded', announcedOutputs: null })
    .where('workspaceId', '=', workspaceId)
    .where('status', '=', 'pending')
    .execute()
}

/** Notes that the lock is given back under which versions of the workspace were made. */
export async function settle(db: Db, workspaceId: string): Promise<void> {
  await db
    .updateTable('stateVersions')
    .set({ settled: true })
    .where('workspaceId', '=', workspaceId)
    .where('settled', '=', false)
    .execute()
}

/** Whether the run is one of the workspace. */
export async function isRunOf(db: Db, runId: string, workspaceId: string): Promise<boolean> {
  const run = await db
    .selectFrom('runs')
    .select(sql.lit(1).as('one'))
    .where('id', '=', runId)
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirst()
  return run !== undefined
}
