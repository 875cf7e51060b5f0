import { type Insertable, sql } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RegistryProviderDownloadTable } from './table.ts'

export type Downloads = Insertable<RegistryProviderDownloadTable>

/** Rows of one statement. */
const CHUNK = 500

/** Adds to what was counted before, by whichever server. What was deleted meanwhile is not counted any more. */
export async function add(db: Db, counted: readonly Downloads[]): Promise<void> {
  for (let from = 0; from < counted.length; from += CHUNK) {
    const some = counted.slice(from, from + CHUNK)
    const left = await listExisting(db, [...new Set(some.map(({ platformId }) => platformId))])
    const rows = some.filter(({ platformId }) => left.has(platformId))
    if (rows.length > 0) await upsert(db, rows)
  }
}

/** Those of the platforms that are there, and stay until the transaction ends. */
async function listExisting(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('registryProviderPlatforms')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

async function upsert(db: Db, rows: readonly Downloads[]): Promise<void> {
  await db
    .insertInto('registryProviderDownloads')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['platformId', 'subjectKind', 'subjectId']).doUpdateSet((eb) => ({
        count: eb('registryProviderDownloads.count', '+', eb.ref('excluded.count')),
        lastAt: eb
          .case()
          .when('excluded.lastAt', '>', eb.ref('registryProviderDownloads.lastAt'))
          .then(eb.ref('excluded.lastAt'))
          .else(eb.ref('registryProviderDownloads.lastAt'))
          .end(),
      })),
    )
    .execute()
}

/** Whose consumers are wanted. */
export interface Consumed {
  versionId: string
  organizationId: string
  /** As states name it: `<namespace>/<name>`, in lower case. */
  provider: string
}

/**
 * Who downloaded a version, and the organization's workspaces whose state uses the provider, in whichever version;
 * who downloaded last comes first.
 */
export function list(db: Db, consumed: Consumed, isShown: { workspaces: boolean }, page: PageRequest) {
  let shown = db
    .selectFrom(consumers(db, consumed).as('consumer'))
    .leftJoin('users', 'users.id', 'consumer.id')
    .leftJoin('teams', 'teams.id', 'consumer.id')
    .leftJoin('organizations', 'organizations.id', 'consumer.id')
    .leftJoin('workspaces', 'workspaces.id', 'consumer.id')
    .select((eb) => [
      'consumer.kind',
      'consumer.id',
      'consumer.downloads',
      'consumer.lastAt',
      'consumer.resources',
      eb.fn.coalesce('users.username', 'teams.name', 'organizations.name', 'workspaces.name').as('name'),
    ])
  if (!isShown.workspaces) shown = shown.where('consumer.kind', '!=', 'workspace')
  const ordered = shown.orderBy((eb) => eb.fn.coalesce('consumer.lastAt', sql<string>`''`), 'desc')
  return paginate(ordered.orderBy('consumer.kind').orderBy('consumer.id'), page)
}

/** How many of the consumers are workspaces. */
export async function countWorkspaces(db: Db, consumed: Consumed): Promise<number> {
  const { count } = await db
    .selectFrom(consumers(db, consumed).as('consumer'))
    .where('consumer.kind', '=', 'workspace')
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function consumers(db: Db, { versionId, organizationId, provider }: Consumed) {
  const fetched = db
    .selectFrom('registryProviderDownloads as download')
    .innerJoin('registryProviderPlatforms as platform', 'platform.id', 'download.platformId')
    .select([
      sql<string>`download.subject_kind`.as('kind'),
      'download.subjectId as id',
      'download.count as downloads',
      sql<string | null>`download.last_at`.as('lastAt'),
      sql<number>`0`.as('resources'),
    ])
    .where('platform.versionId', '=', versionId)
  const using = db
    .selectFrom('workspaceResources as resource')
    .innerJoin('workspaces', 'workspaces.id', 'resource.workspaceId')
    .select([
      sql<string>`'workspace'`.as('kind'),
      'resource.workspaceId as id',
      sql<number>`0`.as('downloads'),
      sql<string | null>`cast(null as text)`.as('lastAt'),
      sql<number>`count(*)`.as('resources'),
    ])
    .where('resource.provider', '=', provider)
    .where('workspaces.organizationId', '=', organizationId)
    .groupBy('resource.workspaceId')
  return db
    .selectFrom(fetched.unionAll(using).as('trace'))
    .select((eb) => [
      'trace.kind',
      'trace.id',
      sql<number>`cast(sum(trace.downloads) as bigint)`.as('downloads'),
      eb.fn.max('trace.lastAt').as('lastAt'),
      sql<number>`cast(sum(trace.resources) as bigint)`.as('resources'),
    ])
    .groupBy(['trace.kind', 'trace.id'])
}

/** What these consumers downloaded of the version, by platform. */
export async function listPlatforms(db: Db, versionId: string, subjectIds: readonly string[]) {
  if (subjectIds.length === 0) return []
  return db
    .selectFrom('registryProviderDownloads as download')
    .innerJoin('registryProviderPlatforms as platform', 'platform.id', 'download.platformId')
    .select(['download.subjectId', 'platform.os', 'platform.arch', 'download.count', 'download.lastAt'])
    .where('platform.versionId', '=', versionId)
    .where('download.subjectId', 'in', subjectIds)
    .orderBy('platform.os')
    .orderBy('platform.arch')
    .execute()
}
