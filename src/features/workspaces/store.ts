import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { changesRows, contains, matchesWildcard, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { WorkspaceTable } from './table.ts'

/** A workspace with what its project, its organization and its tags have to say about it. */
export interface Workspace extends Selectable<WorkspaceTable> {
  organizationName: string
  projectName: string
  allowForceDelete: boolean
  /** What applies unless the workspace has its own. */
  inheritedExecutionMode: string
  inheritedAgentPoolId: string | null
  projectAutoDestroyActivityDuration: string | null
  latestRunId: string | null
  currentStateVersionId: string | null
  /** Objects that the current state says it manages. */
  resourceCount: number
  /** Of the current state, by name. */
  outputIds: string[]
  /** The newest that is neither for plans only, nor waits for a run with it to be applied. */
  currentConfigurationVersionId: string | null
  /** Flat tags, and the keys of bindings without a value, which clients take for the same; by name. */
  tagNames: string[]
  /** In the order they were made. */
  varIds: string[]
}

export interface WorkspaceFilter {
  /** Part of the name. */
  name?: string | undefined
  /** The name, with `*` for any text. */
  wildcardName?: string | undefined
  projectId?: string | undefined
  /** Flat tags or keys of effective bindings that a workspace must have, all of them. */
  tags?: readonly string[] | undefined
  /** Of these a workspace must have none. */
  excludedTags?: readonly string[] | undefined
  /** Effective bindings that a workspace must have, all of them. */
  tagged?: readonly { key: string; value: string | undefined }[]
  sort?: { column: 'name' | 'updatedAt'; descending: boolean }
}

function select(db: Db) {
  return db
    .selectFrom('workspaces')
    .innerJoin('organizations', 'organizations.id', 'workspaces.organizationId')
    .innerJoin('projects', 'projects.id', 'workspaces.projectId')
    .selectAll('workspaces')
    .select((eb) => [
      'organizations.name as organizationName',
      'projects.name as projectName',
      'organizations.allowForceDeleteWorkspaces as allowForceDelete',
      'projects.autoDestroyActivityDuration as projectAutoDestroyActivityDuration',
      eb
        .selectFrom('runs')
        .select('runs.id')
        .whereRef('runs.workspaceId', '=', 'workspaces.id')
        .orderBy('runs.createdAt', 'desc')
        .orderBy('runs.id', 'desc')
        .limit(1)
        .as('latestRunId'),
      eb
        .selectFrom('stateVersions')
        .select('stateVersions.id')
        .whereRef('stateVersions.workspaceId', '=', 'workspaces.id')
        .where('stateVersions.sequence', 'is not', null)
        .orderBy('stateVersions.sequence', 'desc')
        .limit(1)
        .as('currentStateVersionId'),
      eb
        .selectFrom('workspaceResources')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('workspaceResources.workspaceId', '=', 'workspaces.id')
        .$asScalar()
        .$notNull()
        .as('resourceCount'),
      eb
        .selectFrom('configurationVersions')
        .select('configurationVersions.id')
        .whereRef('configurationVersions.workspaceId', '=', 'workspaces.id')
        .where('configurationVersions.status', 'in', ['pending', 'uploaded'])
        .where('configurationVersions.speculative', '=', false)
        .where('configurationVersions.provisional', '=', false)
        .orderBy('configurationVersions.createdAt', 'desc')
        .orderBy('configurationVersions.id', 'desc')
        .limit(1)
        .as('currentConfigurationVersionId'),
      eb.fn
        .coalesce('projects.defaultExecutionMode', 'organizations.defaultExecutionMode')
        .as('inheritedExecutionMode'),
      eb
        .case()
        .when('projects.defaultExecutionMode', 'is', null)
        .then(eb.ref('organizations.defaultAgentPoolId'))
        .else(eb.ref('projects.defaultAgentPoolId'))
        .end()
        .as('inheritedAgentPoolId'),
    ])
}

/** One page, by name unless the filter says otherwise. */
export async function list(db: Db, organizationId: string, filter: WorkspaceFilter, page: PageRequest) {
  const { name, wildcardName, projectId, tags = [], excludedTags = [], tagged = [], sort } = filter
  let workspaces = select(db).where('workspaces.organizationId', '=', organizationId)
  if (name) workspaces = workspaces.where((eb) => contains(eb, 'workspaces.name', name))
  if (wildcardName)
    workspaces = workspaces.where((eb) => matchesWildcard(eb, 'workspaces.name', wildcardName))
  if (projectId) workspaces = workspaces.where('workspaces.projectId', '=', projectId)
  for (const tag of tags) workspaces = workspaces.where(hasTag(tag))
  for (const tag of excludedTags) workspaces = workspaces.where(sql<boolean>`not (${hasTag(tag)})`)
  for (const { key, value } of tagged) workspaces = workspaces.where(hasBinding(key, value))
  const { column, descending } = sort ?? { column: 'name', descending: false }
  const found = await paginate(
    workspaces.orderBy(`workspaces.${column}`, descending ? 'desc' : 'asc').orderBy('workspaces.id'),
    page,
  )
  return { ...found, items: await withRelated(db, found.items) }
}

/** A condition on `workspaces`: the flat tag, or an effective binding with that key. */
function hasTag(name: string) {
  return sql<boolean>`(${hasBinding(name)} or exists (
    select 1 from workspace_tags join tags on tags.id = workspace_tags.tag_id
    where workspace_tags.workspace_id = workspaces.id and tags.name = ${name}))`
}

/** A condition on `workspaces`: an effective binding, own or inherited and not overridden. */
function hasBinding(key: string, value?: string) {
  const anyValue = sql`1 = 1`
  const direct = sql`select 1 from tag_bindings own
    where own.workspace_id = workspaces.id and own.key = ${key}`
  return sql<boolean>`(exists (${direct} and ${value === undefined ? anyValue : sql`own.value = ${value}`})
    or (not exists (${direct}) and exists (
      select 1 from tag_bindings inherited
      where inherited.project_id = workspaces.project_id and inherited.key = ${key}
        and ${value === undefined ? anyValue : sql`inherited.value = ${value}`})))`
}

type Related = Pick<Workspace, 'tagNames' | 'varIds' | 'outputIds'>

async function withRelated<T extends Pick<Workspace, 'id' | 'currentStateVersionId'>>(
  db: Db,
  workspaces: T[],
): Promise<(T & Related)[]> {
  if (workspaces.length === 0) return []
  const ids = workspaces.map((workspace) => workspace.id)
  const names = await db
    .selectFrom('workspaceTags')
    .innerJoin('tags', 'tags.id', 'workspaceTags.tagId')
    .select(['workspaceTags.workspaceId', 'tags.name'])
    .where('workspaceTags.workspaceId', 'in', ids)
    .union((eb) =>
      eb
        .selectFrom('tagBindings')
        .select(['tagBindings.workspaceId as workspaceId', 'tagBindings.key as name'])
        .where('tagBindings.workspaceId', 'in', ids)
        .where('tagBindings.value', '=', '')
        .$narrowType<{ workspaceId: string }>(),
    )
    .orderBy('name')
    .execute()
  const vars = await db
    .selectFrom('vars')
    .select(['workspaceId', 'id'])
    .where('workspaceId', 'in', ids)
    .orderBy('createdAt')
    .orderBy('id')
    .execute()
  const outputs = await listOutputs(db, workspaces)
  return workspaces.map((workspace) => ({
    ...workspace,
    outputIds: outputs
      .filter(({ stateVersionId }) => stateVersionId === workspace.currentStateVersionId)
      .map(({ id }) => id),
    tagNames: names.filter(({ workspaceId }) => workspaceId === workspace.id).map(({ name }) => name),
    varIds: vars.filter(({ workspaceId }) => workspaceId === workspace.id).map(({ id }) => id),
  }))
}

async function listOutputs(db: Db, workspaces: readonly Pick<Workspace, 'currentStateVersionId'>[]) {
  const versions = workspaces.flatMap(({ currentStateVersionId }) => currentStateVersionId ?? [])
  if (versions.length === 0) return []
  return db
    .selectFrom('stateVersionOutputs')
    .select(['id', 'stateVersionId'])
    .where('stateVersionId', 'in', versions)
    .orderBy('name')
    .execute()
}

export async function find(db: Db, id: string): Promise<Workspace | undefined> {
  const found = await select(db).where('workspaces.id', '=', id).execute()
  return (await withRelated(db, found))[0]
}

/** The workspace of the organization with this name, whatever the case. */
export async function findByName(
  db: Db,
  organizationId: string,
  name: string,
): Promise<Workspace | undefined> {
  const found = await select(db)
    .where('workspaces.organizationId', '=', organizationId)
    .where(sql`lower(workspaces.name)`, '=', name.toLowerCase())
    .execute()
  return (await withRelated(db, found))[0]
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<Workspace[]> {
  if (ids.length === 0) return []
  return withRelated(db, await select(db).where('workspaces.id', 'in', ids).execute())
}

export async function insert(db: Db, row: Insertable<WorkspaceTable>): Promise<void> {
  await db.insertInto('workspaces').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<WorkspaceTable>): Promise<void> {
  await db.updateTable('workspaces').set(changes).where('id', '=', id).execute()
}

/** Deletes the workspace, or with `onlyUnlocked` unless it is locked; whether it did. */
export async function remove(db: Db, id: string, onlyUnlocked = false): Promise<boolean> {
  let doomed = db.deleteFrom('workspaces').where('id', '=', id)
  if (onlyUnlocked) doomed = doomed.where('locked', '=', false)
  return changesRows(doomed)
}

/** A lock's holder: one of both is set, or neither once the holder was deleted. */
export interface Holder {
  lockedByUserId: string | null
  lockedByTeamId: string | null
}

/** Locks the workspace if it is not locked; whether it did. */
export async function lock(
  db: Db,
  id: string,
  holder: Holder,
  lockedReason: string | null,
): Promise<boolean> {
  return changesRows(
    db
      .updateTable('workspaces')
      .set({ ...holder, locked: true, lockedReason })
      .where('id', '=', id)
      .where('locked', '=', false),
  )
}

/** Unlocks the workspace if it is locked (and by `holder`, unless undefined); whether it did. */
export async function unlock(db: Db, id: string, holder?: Holder): Promise<boolean> {
  let locked = db
    .updateTable('workspaces')
    .set({ locked: false, lockedReason: null, lockedByUserId: null, lockedByTeamId: null })
    .where('id', '=', id)
    .where('locked', '=', true)
    .where('lockedByRunId', 'is', null)
  if (holder) {
    locked = locked
      .where('lockedByUserId', 'is not distinct from', holder.lockedByUserId)
      .where('lockedByTeamId', 'is not distinct from', holder.lockedByTeamId)
  }
  return changesRows(locked)
}

/** The lock of the workspace, which nobody else can change before the transaction has ended. */
export function hold(db: Db, id: string) {
  return db
    .selectFrom('workspaces')
    .select([
      'id',
      'organizationId',
      'projectId',
      'locked',
      'lockedByRunId',
      'lockedByUserId',
      'lockedByTeamId',
    ])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** Whether the workspace shares its state with another one: with its project, or by name. */
export async function sharesStateWith(
  db: Db,
  { id, projectId, projectRemoteState }: Pick<Workspace, 'id' | 'projectId' | 'projectRemoteState'>,
  readerId: string,
): Promise<boolean> {
  const reader = await db
    .selectFrom('workspaces')
    .select((eb) => [
      'projectId',
      eb
        .selectFrom('remoteStateConsumers')
        .select('consumerId')
        .where('workspaceId', '=', id)
        .where('consumerId', '=', readerId)
        .as('consumerId'),
    ])
    .where('id', '=', readerId)
    .executeTakeFirst()
  if (!reader) return false
  return reader.consumerId !== null || (projectRemoteState && reader.projectId === projectId)
}

/** Locks an unlocked workspace for a run. */
export async function lockForRun(db: Db, id: string, runId: string): Promise<void> {
  await db
    .updateTable('workspaces')
    .set({ locked: true, lockedReason: null, lockedByRunId: runId, currentRunId: runId })
    .where('id', '=', id)
    .where('locked', '=', false)
    .execute()
}

/** Unlocks the workspace if the run has locked it. */
export async function unlockOfRun(db: Db, id: string, runId: string): Promise<void> {
  await db
    .updateTable('workspaces')
    .set({ locked: false, lockedByRunId: null })
    .where('id', '=', id)
    .where('lockedByRunId', '=', runId)
    .execute()
}

/** What the holder is called: a user's or a team's name. */
export async function findHolderName(db: Db, holder: Holder): Promise<string | undefined> {
  const user = db.selectFrom('users').select('username as name').where('id', '=', holder.lockedByUserId)
  const team = db.selectFrom('teams').select('name').where('id', '=', holder.lockedByTeamId)
  const found = await (holder.lockedByUserId ? user : team).executeTakeFirst()
  return found?.name
}
