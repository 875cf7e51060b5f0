import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { among, changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { AgentPoolTable } from './table.ts'

/** A pool with what belongs to it. */
export interface AgentPool extends Selectable<AgentPoolTable> {
  organizationName: string
  /** Agents that work, could work, or have not been heard of for a while. */
  agentCount: number
  /** Workspaces whose runs it carries out, whether they or what they belong to chose it. */
  workspaceIds: string[]
  allowedWorkspaceIds: string[]
  allowedProjectIds: string[]
  excludedWorkspaceIds: string[]
}

export interface AgentPoolFilter {
  /** Part of the name. */
  q?: string | undefined
  /** The name of a workspace that may use it. */
  allowedWorkspace?: string | undefined
  /** The name of a project whose workspaces may use it. */
  allowedProject?: string | undefined
  sort?: { column: 'name' | 'createdAt'; descending: boolean }
}

/** For whom a pool is: a workspace (which may not exist yet) in a project, or a project. */
export interface Target {
  projectId: string
  workspaceId?: string | undefined
}

function select(db: Db) {
  return db
    .selectFrom('agentPools')
    .innerJoin('organizations', 'organizations.id', 'agentPools.organizationId')
    .selectAll('agentPools')
    .select((eb) => [
      'organizations.name as organizationName',
      eb
        .selectFrom('agents')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('agents.agentPoolId', '=', 'agentPools.id')
        .where('agents.status', 'in', ['idle', 'busy', 'unknown'])
        .$asScalar()
        .$notNull()
        .as('agentCount'),
    ])
}

/** A condition on `agent_pools`: whether the pool is for `workspace` in `project`, each an SQL expression. */
const isFor = (project: ReturnType<typeof sql>, workspace: ReturnType<typeof sql>) => sql<boolean>`(
  (agent_pools.organization_scoped
    or exists (select 1 from agent_pool_projects allowed
      where allowed.agent_pool_id = agent_pools.id and allowed.project_id = ${project})
    or exists (select 1 from agent_pool_workspaces allowed
      where allowed.agent_pool_id = agent_pools.id and allowed.workspace_id = ${workspace}))
  and not exists (select 1 from agent_pool_exclusions excluded
    where excluded.agent_pool_id = agent_pools.id and excluded.workspace_id = ${workspace}))`

/** Whether the pool is one of the organization and is for the target. */
export async function isUsable(db: Db, id: string, organizationId: string, target: Target): Promise<boolean> {
  const found = await db
    .selectFrom('agentPools')
    .select('id')
    .where('id', '=', id)
    .where('organizationId', '=', organizationId)
    .where(isFor(sql`${target.projectId}`, sql`${target.workspaceId ?? ''}`))
    .executeTakeFirst()
  return found !== undefined
}

/** One page, by name unless the filter says otherwise. */
export async function list(db: Db, organizationId: string, filter: AgentPoolFilter, page: PageRequest) {
  const { q, allowedWorkspace, allowedProject, sort } = filter
  let pools = select(db).where('agentPools.organizationId', '=', organizationId)
  if (q) pools = pools.where((eb) => contains(eb, 'agentPools.name', q))
  if (allowedWorkspace) {
    pools = pools.where(sql<boolean>`exists (select 1 from workspaces
      where workspaces.organization_id = agent_pools.organization_id
        and lower(workspaces.name) = lower(${allowedWorkspace})
        and ${isFor(sql`workspaces.project_id`, sql`workspaces.id`)})`)
  }
  if (allowedProject) {
    pools = pools.where(sql<boolean>`exists (select 1 from projects
      where projects.organization_id = agent_pools.organization_id
        and lower(projects.name) = lower(${allowedProject})
        and ${isFor(sql`projects.id`, sql`''`)})`)
  }
  const { column, descending } = sort ?? { column: 'name', descending: false }
  const direction = descending ? 'desc' : 'asc'
  const found = await paginate(
    pools.orderBy(`agentPools.${column}`, direction).orderBy('agentPools.id', direction),
    page,
  )
  return { ...found, items: await withRelated(db, found.items) }
}

export async function find(db: Db, id: string): Promise<AgentPool | undefined> {
  return (await listByIds(db, [id]))[0]
}

export async function listByIds(db: Db, ids: readonly string[]): Promise<AgentPool[]> {
  const pools = await select(db)
    .where((eb) => among(eb, 'agentPools.id', ids))
    .execute()
  return withRelated(db, pools)
}

async function withRelated<T extends { id: string }>(db: Db, pools: T[]) {
  if (pools.length === 0) return []
  const ids = pools.map(({ id }) => id)
  const links = <K extends 'agentPoolWorkspaces' | 'agentPoolProjects' | 'agentPoolExclusions'>(table: K) =>
    db
      .selectFrom(table as 'agentPoolWorkspaces')
      .selectAll()
      .where('agentPoolId', 'in', ids)
      .execute() as unknown as Promise<{ agentPoolId: string; workspaceId: string; projectId: string }[]>
  const used = await listUses(db, ids)
  const workspaces = await links('agentPoolWorkspaces')
  const projects = await links('agentPoolProjects')
  const excluded = await links('agentPoolExclusions')
  const of = <L extends { agentPoolId: string | null }>(id: string, all: readonly L[], key: keyof L) =>
    all.flatMap((link) => (link.agentPoolId === id ? [String(link[key])] : [])).sort()
  return pools.map((pool) => ({
    ...pool,
    workspaceIds: of(pool.id, used, 'workspaceId'),
    allowedWorkspaceIds: of(pool.id, workspaces, 'workspaceId'),
    allowedProjectIds: of(pool.id, projects, 'projectId'),
    excludedWorkspaceIds: of(pool.id, excluded, 'workspaceId'),
  }))
}

/** The workspaces whose runs the pools carry out. */
function listUses(db: Db, poolIds: readonly string[]) {
  return db
    .selectFrom('workspaces')
    .innerJoin('projects', 'projects.id', 'workspaces.projectId')
    .innerJoin('organizations', 'organizations.id', 'workspaces.organizationId')
    .select([
      'workspaces.id as workspaceId',
      sql<string | null>`case
        when workspaces.execution_mode is not null then workspaces.agent_pool_id
        when projects.default_execution_mode is not null then projects.default_agent_pool_id
        else organizations.default_agent_pool_id end`.as('agentPoolId'),
    ])
    .where((eb) =>
      eb.or([
        among(eb, 'workspaces.agentPoolId', poolIds),
        among(eb, 'projects.defaultAgentPoolId', poolIds),
        among(eb, 'organizations.defaultAgentPoolId', poolIds),
      ]),
    )
    .execute()
}

/** Runs that have come to their end; all others may still need an agent. */
const ENDED = [
  'policy_soft_failed',
  'planned_and_finished',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
] as const

/** What needs the pool, by kind. */
export async function listUsers(db: Db, id: string): Promise<string[]> {
  const workspace = await db
    .selectFrom('workspaces')
    .select('id')
    .where('agentPoolId', '=', id)
    .limit(1)
    .execute()
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('defaultAgentPoolId', '=', id)
    .limit(1)
    .execute()
  const organization = await db
    .selectFrom('organizations')
    .select('id')
    .where('defaultAgentPoolId', '=', id)
    .execute()
  const run = await db
    .selectFrom('runs')
    .select('id')
    .where('agentPoolId', '=', id)
    .where('status', 'not in', ENDED)
    .limit(1)
    .execute()
  return [
    ...workspace.map(() => 'workspaces'),
    ...project.map(() => 'projects'),
    ...organization.map(() => 'the organization'),
    ...run.map(() => 'runs'),
  ]
}

/** Makes others wait who want to change, choose or remove the pool, until the transaction ends. */
export function hold(db: Db, id: string) {
  return db
    .selectFrom('agentPools')
    .select(['id', 'organizationId', 'organizationScoped'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<AgentPoolTable>): Promise<void> {
  await db.insertInto('agentPools').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<AgentPoolTable>): Promise<void> {
  if (Object.keys(changes).length === 0) return
  await db.updateTable('agentPools').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('agentPools').where('id', '=', id))
}

/** Those of `ids` that are of the organization. */
export async function listOwn(
  db: Db,
  kind: 'workspaces' | 'projects',
  organizationId: string,
  ids: readonly string[],
): Promise<string[]> {
  const own = await db
    .selectFrom(kind)
    .select('id')
    .where('organizationId', '=', organizationId)
    .where((eb) => among(eb, 'id', ids))
    .execute()
  return own.map(({ id }) => id)
}

export async function replaceWorkspaces(db: Db, agentPoolId: string, ids: readonly string[]): Promise<void> {
  await db.deleteFrom('agentPoolWorkspaces').where('agentPoolId', '=', agentPoolId).execute()
  const rows = ids.map((workspaceId) => ({ agentPoolId, workspaceId }))
  if (rows.length > 0) await db.insertInto('agentPoolWorkspaces').values(rows).execute()
}

export async function replaceProjects(db: Db, agentPoolId: string, ids: readonly string[]): Promise<void> {
  await db.deleteFrom('agentPoolProjects').where('agentPoolId', '=', agentPoolId).execute()
  const rows = ids.map((projectId) => ({ agentPoolId, projectId }))
  if (rows.length > 0) await db.insertInto('agentPoolProjects').values(rows).execute()
}

export async function replaceExclusions(db: Db, agentPoolId: string, ids: readonly string[]): Promise<void> {
  await db.deleteFrom('agentPoolExclusions').where('agentPoolId', '=', agentPoolId).execute()
  const rows = ids.map((workspaceId) => ({ agentPoolId, workspaceId }))
  if (rows.length > 0) await db.insertInto('agentPoolExclusions').values(rows).execute()
}
