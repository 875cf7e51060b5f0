import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { ProjectTable } from './table.ts'

/** A project with what its organization has to say about it. */
export interface Project extends Selectable<ProjectTable> {
  organizationName: string
  organizationExecutionMode: string
  organizationAgentPoolId: string | null
  /** Of the organization. */
  defaultProjectId: string | null
  workspaceCount: number
}

export interface ProjectFilter {
  /** Whole names, whatever the case. */
  names?: readonly string[] | undefined
  /** Part of the name. */
  q?: string | undefined
  /** Bindings that a project must have, all of them. */
  tagged?: readonly { key: string; value: string | undefined }[]
  descending?: boolean
}

function select(db: Db) {
  return db
    .selectFrom('projects')
    .innerJoin('organizations', 'organizations.id', 'projects.organizationId')
    .selectAll('projects')
    .select([
      'organizations.name as organizationName',
      'organizations.defaultExecutionMode as organizationExecutionMode',
      'organizations.defaultAgentPoolId as organizationAgentPoolId',
      'organizations.defaultProjectId',
    ])
    .select((eb) =>
      eb
        .selectFrom('workspaces')
        .select(sql<number>`count(*)`.as('count'))
        .whereRef('workspaces.projectId', '=', 'projects.id')
        .$asScalar()
        .$notNull()
        .as('workspaceCount'),
    )
}

export function list(db: Db, organizationId: string, filter: ProjectFilter, page: PageRequest) {
  const { names, q, tagged = [], descending } = filter
  let projects = select(db).where('projects.organizationId', '=', organizationId)
  if (names) {
    const wanted = names.map((name) => name.toLowerCase())
    projects = projects.where(sql<string>`lower(projects.name)`, 'in', wanted)
  }
  if (q) projects = projects.where((eb) => contains(eb, 'projects.name', q))
  for (const { key, value } of tagged) {
    projects = projects.where(({ exists, selectFrom }) => {
      const binding = selectFrom('tagBindings')
        .select('tagBindings.id')
        .whereRef('tagBindings.projectId', '=', 'projects.id')
        .where('tagBindings.key', '=', key)
      return exists(value === undefined ? binding : binding.where('tagBindings.value', '=', value))
    })
  }
  return paginate(projects.orderBy('projects.name', descending ? 'desc' : 'asc'), page)
}

export function find(db: Db, id: string): Promise<Project | undefined> {
  return select(db).where('projects.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Project[]> {
  return select(db).where('projects.id', 'in', ids).execute()
}

export async function insert(db: Db, row: Insertable<ProjectTable>): Promise<void> {
  await db.insertInto('projects').values(row).execute()
}

export async function update(db: Db, id: string, changes: Updateable<ProjectTable>): Promise<void> {
  await db.updateTable('projects').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('projects').where('id', '=', id))
}
