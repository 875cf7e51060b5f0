import type { Insertable, Selectable, Updateable } from 'kysely'
import { among, paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type {
  RegistryModuleDownloadTable,
  RegistryModuleTombstoneTable,
  RegistryModuleVersionTable,
} from './table.ts'

/** A version with what is known of its archive once that is there. */
export interface RegistryModuleVersion extends Selectable<RegistryModuleVersionTable> {
  /** Hexadecimal. */
  sha256: string | null
  /** Bytes. */
  size: number | null
  downloads: number
}

function select(db: Db) {
  return db
    .selectFrom('registryModuleVersions as version')
    .leftJoin('blobs as archive', 'archive.key', 'version.archiveBlob')
    .leftJoin('registryModuleDownloads as download', 'download.versionId', 'version.id')
    .selectAll('version')
    .select(['archive.sha256', 'archive.size'])
    .select((eb) => eb.fn.coalesce('download.count', eb.lit(0)).as('downloads'))
}

/** In the order they were made. */
export function list(db: Db, moduleId: string, page: PageRequest) {
  const versions = select(db).where('version.moduleId', '=', moduleId)
  return paginate(versions.orderBy('version.createdAt').orderBy('version.id'), page)
}

export function listPublished(db: Db, moduleId: string): Promise<RegistryModuleVersion[]> {
  return select(db).where('version.moduleId', '=', moduleId).where('version.status', '=', 'ok').execute()
}

export function find(db: Db, id: string): Promise<RegistryModuleVersion | undefined> {
  return select(db).where('version.id', '=', id).executeTakeFirst()
}

export function findByVersion(
  db: Db,
  moduleId: string,
  version: string,
): Promise<RegistryModuleVersion | undefined> {
  return select(db)
    .where('version.moduleId', '=', moduleId)
    .where('version.version', '=', version)
    .executeTakeFirst()
}

/** Keeps everybody else from changing it until the transaction ends. */
export async function lock(db: Db, id: string): Promise<void> {
  await db.selectFrom('registryModuleVersions').select('id').where('id', '=', id).forUpdate().execute()
}

/** The ids of all versions of a module, which nobody can change until the transaction ends. */
export async function lockAll(db: Db, moduleId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('registryModuleVersions')
    .select('id')
    .where('moduleId', '=', moduleId)
    .orderBy('createdAt')
    .orderBy('id')
    .forUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

export async function insert(db: Db, row: Insertable<RegistryModuleVersionTable>): Promise<void> {
  await db.insertInto('registryModuleVersions').values(row).execute()
}

export async function update(
  db: Db,
  id: string,
  changes: Updateable<RegistryModuleVersionTable>,
): Promise<void> {
  await db.updateTable('registryModuleVersions').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('registryModuleVersions').where('id', '=', id).execute()
}

export async function insertDescription(db: Db, versionId: string, content: string): Promise<void> {
  await db.insertInto('registryModuleDescriptions').values({ versionId, content }).execute()
}

export async function findDescription(db: Db, versionId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('registryModuleDescriptions')
    .select('content')
    .where('versionId', '=', versionId)
    .executeTakeFirst()
  return row?.content
}

export type Downloads = Insertable<RegistryModuleDownloadTable>

/** Adds to what was counted before, by whichever server. What was deleted meanwhile is not counted any more. */
export async function addDownloads(db: Db, counted: readonly Downloads[]): Promise<void> {
  const there = await db
    .selectFrom('registryModuleVersions')
    .select('id')
    .where((eb) =>
      among(
        eb,
        'id',
        counted.map(({ versionId }) => versionId),
      ),
    )
    .orderBy('id')
    .forKeyShare()
    .execute()
  const ids = new Set(there.map(({ id }) => id))
  const rows = counted.filter(({ versionId }) => ids.has(versionId))
  if (rows.length === 0) return
  await db
    .insertInto('registryModuleDownloads')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('versionId').doUpdateSet((eb) => ({
        count: eb('registryModuleDownloads.count', '+', eb.ref('excluded.count')),
      })),
    )
    .execute()
}

export async function insertTombstone(db: Db, row: Insertable<RegistryModuleTombstoneTable>): Promise<void> {
  await db
    .insertInto('registryModuleTombstones')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The digests under which a version was published and then deleted. */
export async function listReleased(
  db: Db,
  release: Record<'organizationId' | 'name' | 'provider' | 'version', string>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('registryModuleTombstones')
    .select('sha256')
    .where('organizationId', '=', release.organizationId)
    .where('name', '=', release.name)
    .where('provider', '=', release.provider)
    .where('version', '=', release.version)
    .execute()
  return rows.map(({ sha256 }) => sha256)
}
