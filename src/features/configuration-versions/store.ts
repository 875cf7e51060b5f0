import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { ConfigurationVersionTable } from './table.ts'

/** A configuration version with what its workspace says about it. */
export interface ConfigurationVersion extends Selectable<ConfigurationVersionTable> {
  organizationId: string
}

function select(db: Db) {
  return db
    .selectFrom('configurationVersions')
    .innerJoin('workspaces', 'workspaces.id', 'configurationVersions.workspaceId')
    .selectAll('configurationVersions')
    .select('workspaces.organizationId')
}

export function find(db: Db, id: string): Promise<ConfigurationVersion | undefined> {
  return select(db).where('configurationVersions.id', '=', id).executeTakeFirst()
}

export function findOfRun(db: Db, runId: string): Promise<ConfigurationVersion | undefined> {
  return select(db)
    .innerJoin('runs', 'runs.configurationVersionId', 'configurationVersions.id')
    .where('runs.id', '=', runId)
    .executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<ConfigurationVersion[]> {
  return select(db).where('configurationVersions.id', 'in', ids).execute()
}

/** One page, the newest first. */
export function list(db: Db, workspaceId: string, page: PageRequest) {
  const versions = select(db).where('configurationVersions.workspaceId', '=', workspaceId)
  return paginate(
    versions.orderBy('configurationVersions.createdAt', 'desc').orderBy('configurationVersions.id', 'desc'),
    page,
  )
}

/** The newest that is there, and is neither for plans only nor waits for a run to be applied. */
export function findCurrent(db: Db, workspaceId: string): Promise<ConfigurationVersion | undefined> {
  return select(db)
    .where('configurationVersions.workspaceId', '=', workspaceId)
    .where('configurationVersions.status', '=', 'uploaded')
    .where('configurationVersions.speculative', '=', false)
    .where('configurationVersions.provisional', '=', false)
    .orderBy('configurationVersions.createdAt', 'desc')
    .orderBy('configurationVersions.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Whether a run with it has not come to its end, which a run and its apply do together. */
export async function isInUse(db: Db, id: string): Promise<boolean> {
  const run = await db
    .selectFrom('runs')
    .innerJoin('applies', 'applies.runId', 'runs.id')
    .select(sql.lit(1).as('one'))
    .where('runs.configurationVersionId', '=', id)
    .where('applies.status', 'in', ['pending', 'queued', 'running'])
    .limit(1)
    .executeTakeFirst()
  return run !== undefined
}

/** Keeps everybody else from changing it until the transaction ends. */
export async function hold(db: Db, id: string): Promise<void> {
  await db.selectFrom('configurationVersions').select('id').where('id', '=', id).forUpdate().execute()
}

export async function insert(db: Db, row: Insertable<ConfigurationVersionTable>): Promise<void> {
  await db.insertInto('configurationVersions').values(row).execute()
}

export async function update(
  db: Db,
  id: string,
  changes: Updateable<ConfigurationVersionTable>,
): Promise<void> {
  await db.updateTable('configurationVersions').set(changes).where('id', '=', id).execute()
}
