import type { Selectable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { StateVersionOutputTable } from './table.ts'

/** An output with the workspace that its state version is of. */
export interface Output extends Selectable<StateVersionOutputTable> {
  workspaceId: string
}

/** Rows of one INSERT. */
const INSERTED = 500

function select(db: Db) {
  return db
    .selectFrom('stateVersionOutputs')
    .innerJoin('stateVersions', 'stateVersions.id', 'stateVersionOutputs.stateVersionId')
    .selectAll('stateVersionOutputs')
    .select('stateVersions.workspaceId')
}

export function find(db: Db, id: string): Promise<Output | undefined> {
  return select(db).where('stateVersionOutputs.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Output[]> {
  return select(db).where('stateVersionOutputs.id', 'in', ids).orderBy('name').execute()
}

/** One page of the outputs of a state version, by name. */
export function list(db: Db, stateVersionId: string, page: PageRequest) {
  const outputs = select(db).where('stateVersionId', '=', stateVersionId)
  return paginate(outputs.orderBy('name'), page)
}

/** All of them. */
export function listAll(db: Db, stateVersionId: string): Promise<Output[]> {
  return select(db).where('stateVersionId', '=', stateVersionId).orderBy('name').execute()
}

export async function insert(db: Db, rows: readonly Selectable<StateVersionOutputTable>[]): Promise<void> {
  for (let from = 0; from < rows.length; from += INSERTED) {
    await db
      .insertInto('stateVersionOutputs')
      .values(rows.slice(from, from + INSERTED))
      .execute()
  }
}

/** The workspace of a state version. */
export async function findWorkspace(db: Db, stateVersionId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('stateVersions')
    .select('workspaceId')
    .where('id', '=', stateVersionId)
    .executeTakeFirst()
  return found?.workspaceId
}

/** The current state version of a workspace. */
export async function findCurrent(db: Db, workspaceId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('stateVersions')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('sequence', 'is not', null)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.id
}
