import type { Insertable, Selectable, Updateable } from 'kysely'
import { among, changesRows } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { VarTable } from './table.ts'

/** A variable of a workspace, and whose that is. */
export interface Var extends Selectable<VarTable> {
  organizationId: string
  organizationName: string
  workspaceName: string
}

function select(db: Db) {
  return db
    .selectFrom('vars')
    .innerJoin('workspaces', 'workspaces.id', 'vars.workspaceId')
    .innerJoin('organizations', 'organizations.id', 'workspaces.organizationId')
    .selectAll('vars')
    .select([
      'workspaces.organizationId as organizationId',
      'organizations.name as organizationName',
      'workspaces.name as workspaceName',
    ])
    .orderBy('vars.createdAt')
    .orderBy('vars.id')
}

export function listOfWorkspace(db: Db, workspaceId: string): Promise<Var[]> {
  return select(db).where('vars.workspaceId', '=', workspaceId).execute()
}

export function listOfOrganization(db: Db, organizationId: string): Promise<Var[]> {
  return select(db).where('workspaces.organizationId', '=', organizationId).execute()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Var[]> {
  return select(db)
    .where((eb) => among(eb, 'vars.id', ids))
    .execute()
}

export function find(db: Db, id: string): Promise<Var | undefined> {
  return select(db).where('vars.id', '=', id).executeTakeFirst()
}

/** Makes others wait who want to change the variable, until the transaction ends. */
export function hold(db: Db, id: string): Promise<Selectable<VarTable> | undefined> {
  return db.selectFrom('vars').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<VarTable>): Promise<void> {
  await db.insertInto('vars').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<VarTable>): Promise<void> {
  await db.updateTable('vars').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('vars').where('id', '=', id))
}
