import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { among, changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { VarsetTable, VarsetVarTable } from './table.ts'

/** A set with what is in it and what it was given to. */
export interface Varset extends Selectable<VarsetTable> {
  organizationName: string
  varIds: string[]
  workspaceIds: string[]
  projectIds: string[]
}

/** A variable of a set, and whose that is. */
export interface VarsetVar extends Selectable<VarsetVarTable> {
  organizationId: string
}

/** Whose sets are wanted: all of the organization’s, or those that matter to a project or a workspace. */
export interface VarsetScope {
  organizationId: string
  projectId?: string
  workspaceId?: string
}

function select(db: Db) {
  return db
    .selectFrom('varsets')
    .innerJoin('organizations', 'organizations.id', 'varsets.organizationId')
    .selectAll('varsets')
    .select('organizations.name as organizationName')
}

/** A condition on `varsets`: given to the project, or owned by it, or global. */
const isForProject = (projectId: string) => sql<boolean>`(varsets.global
  or varsets.parent_project_id = ${projectId}
  or exists (select 1 from varset_projects given
    where given.varset_id = varsets.id and given.project_id = ${projectId}))`

/** A condition on `varsets`: given to the workspace or its project, or global; not owned by another project. */
const appliesTo = (workspaceId: string, projectId: string) => sql<boolean>`(
  (varsets.parent_project_id is null or varsets.parent_project_id = ${projectId})
  and (varsets.global
    or exists (select 1 from varset_projects given
      where given.varset_id = varsets.id and given.project_id = ${projectId})
    or exists (select 1 from varset_workspaces given
      where given.varset_id = varsets.id and given.workspace_id = ${workspaceId})))`

/** By name. */
function ofScope(db: Db, { organizationId, projectId, workspaceId }: VarsetScope) {
  let sets = select(db).where('varsets.organizationId', '=', organizationId)
  if (projectId !== undefined) {
    sets = sets.where(workspaceId === undefined ? isForProject(projectId) : appliesTo(workspaceId, projectId))
  }
  return sets.orderBy('varsets.name').orderBy('varsets.id')
}

/** One page; `q` is a part of the name. */
export async function list(db: Db, scope: VarsetScope, q: string | undefined, page: PageRequest) {
  let sets = ofScope(db, scope)
  if (q) sets = sets.where((eb) => contains(eb, 'varsets.name', q))
  const found = await paginate(sets, page)
  return { ...found, items: await withRelated(db, found.items) }
}

/** All that apply to a workspace, and whether they were given to the workspace itself or to its project. */
export async function listApplied(db: Db, { organizationId, projectId, workspaceId }: Required<VarsetScope>) {
  const sets = await db
    .selectFrom('varsets')
    .select(['id', 'name', 'global', 'priority', 'parentProjectId'])
    .where('organizationId', '=', organizationId)
    .where(appliesTo(workspaceId, projectId))
    .execute()
  const onWorkspace = await db
    .selectFrom('varsetWorkspaces')
    .select('varsetId')
    .where('workspaceId', '=', workspaceId)
    .execute()
  const onProject = await db
    .selectFrom('varsetProjects')
    .select('varsetId')
    .where('projectId', '=', projectId)
    .execute()
  return sets.map((set) => ({
    ...set,
    ownedByProject: set.parentProjectId !== null,
    onWorkspace: onWorkspace.some(({ varsetId }) => varsetId === set.id),
    onProject: onProject.some(({ varsetId }) => varsetId === set.id),
  }))
}

export async function find(db: Db, id: string): Promise<Varset | undefined> {
  return (await withRelated(db, await select(db).where('varsets.id', '=', id).execute()))[0]
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<Varset[]> {
  const sets = await select(db)
    .where((eb) => among(eb, 'varsets.id', ids))
    .execute()
  return withRelated(db, sets)
}

async function withRelated<T extends { id: string }>(db: Db, sets: T[]) {
  if (sets.length === 0) return []
  const ids = sets.map(({ id }) => id)
  const vars = await db
    .selectFrom('varsetVars')
    .select(['varsetId', 'id'])
    .where('varsetId', 'in', ids)
    .orderBy('createdAt')
    .orderBy('id')
    .execute()
  // A workspace that was moved out of the project that owns a set has the set no longer.
  const workspaces = await db
    .selectFrom('varsetWorkspaces')
    .innerJoin('varsets', 'varsets.id', 'varsetWorkspaces.varsetId')
    .innerJoin('workspaces', 'workspaces.id', 'varsetWorkspaces.workspaceId')
    .select(['varsetWorkspaces.varsetId', 'workspaces.id'])
    .where('varsetId', 'in', ids)
    .where((eb) =>
      eb.or([
        eb('varsets.parentProjectId', 'is', null),
        eb('varsets.parentProjectId', '=', eb.ref('workspaces.projectId')),
      ]),
    )
    .orderBy('workspaces.id')
    .execute()
  const projects = await db
    .selectFrom('varsetProjects')
    .select(['varsetId', 'projectId as id'])
    .where('varsetId', 'in', ids)
    .orderBy('projectId')
    .execute()
  const of = (setId: string, rows: readonly { varsetId: string; id: string }[]) =>
    rows.flatMap(({ varsetId, id }) => (varsetId === setId ? [id] : []))
  return sets.map((set) => ({
    ...set,
    varIds: of(set.id, vars),
    workspaceIds: of(set.id, workspaces),
    projectIds: of(set.id, projects),
  }))
}

/** Makes others wait who want to change the set or what is in it, until the transaction ends. */
export function hold(db: Db, id: string): Promise<Selectable<VarsetTable> | undefined> {
  return db.selectFrom('varsets').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<VarsetTable>): Promise<void> {
  await db.insertInto('varsets').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<VarsetTable>): Promise<void> {
  await db.updateTable('varsets').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('varsets').where('id', '=', id))
}

/** Those of these workspaces that are of the organization, and the project of each. */
export function listWorkspaces(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<{ id: string; projectId: string }[]> {
  return db
    .selectFrom('workspaces')
    .select(['id', 'projectId'])
    .where('organizationId', '=', organizationId)
    .where((eb) => among(eb, 'id', ids))
    .execute()
}

/** Those of these projects that are of the organization. */
export function listProjects(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<{ id: string; projectId: string }[]> {
  return db
    .selectFrom('projects')
    .select(['id', 'id as projectId'])
    .where('organizationId', '=', organizationId)
    .where((eb) => among(eb, 'id', ids))
    .execute()
}

export async function applyToWorkspaces(db: Db, varsetId: string, ids: readonly string[]): Promise<void> {
  const rows = ids.map((workspaceId) => ({ varsetId, workspaceId }))
  if (rows.length === 0) return
  await db
    .insertInto('varsetWorkspaces')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function applyToProjects(db: Db, varsetId: string, ids: readonly string[]): Promise<void> {
  const rows = ids.map((projectId) => ({ varsetId, projectId }))
  if (rows.length === 0) return
  await db
    .insertInto('varsetProjects')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Takes the set from these workspaces, or from all. */
export async function removeFromWorkspaces(
  db: Db,
  varsetId: string,
  ids: readonly string[] | undefined,
): Promise<void> {
  let given = db.deleteFrom('varsetWorkspaces').where('varsetId', '=', varsetId)
  if (ids) given = given.where((eb) => among(eb, 'workspaceId', ids))
  await given.execute()
}

export async function removeFromProjects(
  db: Db,
  varsetId: string,
  ids: readonly string[] | undefined,
): Promise<void> {
  let given = db.deleteFrom('varsetProjects').where('varsetId', '=', varsetId)
  if (ids) given = given.where((eb) => among(eb, 'projectId', ids))
  await given.execute()
}

function selectVars(db: Db) {
  return db
    .selectFrom('varsetVars')
    .innerJoin('varsets', 'varsets.id', 'varsetVars.varsetId')
    .selectAll('varsetVars')
    .select('varsets.organizationId as organizationId')
    .orderBy('varsetVars.createdAt')
    .orderBy('varsetVars.id')
}

export function listVars(db: Db, varsetIds: readonly string[]): Promise<VarsetVar[]> {
  return selectVars(db)
    .where((eb) => among(eb, 'varsetVars.varsetId', varsetIds))
    .execute()
}

export function listVarsByIds(db: Db, ids: readonly string[]): Promise<VarsetVar[]> {
  return selectVars(db)
    .where((eb) => among(eb, 'varsetVars.id', ids))
    .execute()
}

export function findVar(db: Db, id: string): Promise<VarsetVar | undefined> {
  return selectVars(db).where('varsetVars.id', '=', id).executeTakeFirst()
}

/** The variables of the organization’s global sets, without those of `varsetId`. */
export function listGlobalVars(db: Db, organizationId: string, varsetId: string) {
  return db
    .selectFrom('varsetVars')
    .innerJoin('varsets', 'varsets.id', 'varsetVars.varsetId')
    .select(['varsetVars.key', 'varsetVars.category', 'varsets.name as varsetName'])
    .where('varsetVars.globalIn', '=', organizationId)
    .where('varsetVars.varsetId', '!=', varsetId)
    .execute()
}

export async function insertVar(db: Db, row: Insertable<VarsetVarTable>): Promise<void> {
  await db.insertInto('varsetVars').values(row).execute()
}

export async function updateVar(db: Db, id: string, changes: Updateable<VarsetVarTable>): Promise<void> {
  await db.updateTable('varsetVars').set(changes).where('id', '=', id).execute()
}

/** Tells the variables of a set whether it is global. */
export async function setGlobalIn(db: Db, varsetId: string, globalIn: string | null): Promise<void> {
  await db.updateTable('varsetVars').set({ globalIn }).where('varsetId', '=', varsetId).execute()
}

export async function removeVar(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('varsetVars').where('id', '=', id))
}
