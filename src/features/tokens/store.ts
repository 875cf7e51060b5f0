import type { Insertable, Selectable } from 'kysely'
import { among, changesRows, contains, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { TokenTable } from './table.ts'

export type Token = Selectable<TokenTable>

export type Owner =
  | { userId: string }
  | { teamId: string }
  | { organizationId: string }
  | { agentPoolId: string }
  | { runId: string }

export type TeamTokenSort = keyof typeof SORT_COLUMNS

export interface TeamTokenFilter {
  teamIds: readonly string[]
  /** Part of the team's name. */
  q: string | undefined
  sort: { by: TeamTokenSort; descending: boolean }
}

const SORT_COLUMNS = {
  teamName: 'teams.name',
  createdBy: 'creators.username',
  expiredAt: 'tokens.expiredAt',
  lastUsedAt: 'tokens.lastUsedAt',
  createdAt: 'tokens.createdAt',
} as const

/** The token with this hash, and what is needed to know its owner. */
export function findOwner(db: Db, hash: string) {
  return owners(db).where('tokens.hash', '=', hash).executeTakeFirst()
}

export function findOwnerById(db: Db, id: string) {
  return owners(db).where('tokens.id', '=', id).executeTakeFirst()
}

function owners(db: Db) {
  return db
    .selectFrom('tokens')
    .leftJoin('users', 'users.id', 'tokens.userId')
    .leftJoin('teams', 'teams.id', 'tokens.teamId')
    .leftJoin('agentPools', 'agentPools.id', 'tokens.agentPoolId')
    .leftJoin('runs', 'runs.id', 'tokens.runId')
    .leftJoin('workspaces', 'workspaces.id', 'runs.workspaceId')
    .select([
      'tokens.id',
      'tokens.userId',
      'tokens.teamId',
      'tokens.organizationId',
      'tokens.agentPoolId',
      'tokens.runId',
      'tokens.registryProviderIds',
      'tokens.expiredAt',
      'tokens.lastUsedAt',
      'users.isSiteAdmin',
      'teams.organizationId as teamOrganizationId',
      'agentPools.organizationId as poolOrganizationId',
      'workspaces.id as runWorkspaceId',
      'workspaces.organizationId as runOrganizationId',
    ])
}

export function find(db: Db, id: string): Promise<Token | undefined> {
  return db.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByHash(db: Db, hash: string): Promise<Token | undefined> {
  return db.selectFrom('tokens').selectAll().where('hash', '=', hash).executeTakeFirst()
}

export function findOfOrganization(db: Db, organizationId: string): Promise<Token | undefined> {
  return db.selectFrom('tokens').selectAll().where('organizationId', '=', organizationId).executeTakeFirst()
}

/** The team's one token without a description. */
export function findUndescribed(db: Db, teamId: string): Promise<Token | undefined> {
  return db
    .selectFrom('tokens')
    .selectAll()
    .where('teamId', '=', teamId)
    .where('description', 'is', null)
    .executeTakeFirst()
}

export function findBootstrap(db: Db): Promise<Token | undefined> {
  return db.selectFrom('tokens').selectAll().where('isBootstrap', '=', true).executeTakeFirst()
}

/** Oldest first, unless `descending`. */
export function listOf(
  db: Db,
  owner: { userId: string } | { teamId: string } | { agentPoolId: string },
  page: PageRequest,
  descending: boolean,
) {
  const [[column, id]] = Object.entries(owner) as [['userId' | 'teamId' | 'agentPoolId', string]]
  const direction = descending ? 'desc' : 'asc'
  const tokens = db.selectFrom('tokens').selectAll().where(column, '=', id)
  return paginate(tokens.orderBy('createdAt', direction).orderBy('id', direction), page)
}

/** What has no value in the sorted column comes last, in either direction. */
export function listOfTeams(db: Db, { teamIds, q, sort }: TeamTokenFilter, page: PageRequest) {
  let tokens = db
    .selectFrom('tokens')
    .innerJoin('teams', 'teams.id', 'tokens.teamId')
    .leftJoin('users as creators', 'creators.id', 'tokens.createdById')
    .selectAll('tokens')
    .where((eb) => among(eb, 'tokens.teamId', teamIds))
  if (q) tokens = tokens.where((eb) => contains(eb, 'teams.name', q))
  const direction = sort.descending ? 'desc' : 'asc'
  return paginate(
    tokens
      .orderBy(SORT_COLUMNS[sort.by], (order) => order[direction]().nullsLast())
      .orderBy('tokens.createdAt')
      .orderBy('tokens.id'),
    page,
  )
}

export function insert(db: Db, row: Insertable<TokenTable>): Promise<Token> {
  return db.insertInto('tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function touch(db: Db, id: string, lastUsedAt: string): Promise<void> {
  await db.updateTable('tokens').set({ lastUsedAt }).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<boolean> {
  return changesRows(db.deleteFrom('tokens').where('id', '=', id))
}

/** Removes all tokens of a run. */
export async function removeOfRun(db: Db, runId: string): Promise<void> {
  await db.deleteFrom('tokens').where('runId', '=', runId).execute()
}
