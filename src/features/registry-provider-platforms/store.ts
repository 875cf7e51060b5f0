import type { Insertable, Selectable, Updateable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { RegistryProviderPlatformTable } from './table.ts'

export type RegistryProviderPlatform = Selectable<RegistryProviderPlatformTable>

/** In the order they were made. */
export function list(db: Db, versionId: string, page: PageRequest) {
  const platforms = db.selectFrom('registryProviderPlatforms').selectAll().where('versionId', '=', versionId)
  return paginate(platforms.orderBy('createdAt').orderBy('id'), page)
}

export function find(db: Db, id: string): Promise<RegistryProviderPlatform | undefined> {
  return db.selectFrom('registryProviderPlatforms').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The platform, unless its version is revoked. */
export function findDownloadable(db: Db, id: string) {
  return db
    .selectFrom('registryProviderPlatforms as platform')
    .innerJoin('registryProviderVersions as version', 'version.id', 'platform.versionId')
    .select(['platform.binaryBlob', 'platform.filename'])
    .where('platform.id', '=', id)
    .where('version.status', '!=', 'revoked')
    .executeTakeFirst()
}

/** The platform, to be changed: others that want to change it wait. */
export function lock(db: Db, id: string): Promise<RegistryProviderPlatform | undefined> {
  return db
    .selectFrom('registryProviderPlatforms')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export function findByTarget(
  db: Db,
  versionId: string,
  os: string,
  arch: string,
): Promise<RegistryProviderPlatform | undefined> {
  return db
    .selectFrom('registryProviderPlatforms')
    .selectAll()
    .where('versionId', '=', versionId)
    .where('os', '=', os)
    .where('arch', '=', arch)
    .executeTakeFirst()
}

export function insert(
  db: Db,
  row: Insertable<RegistryProviderPlatformTable>,
): Promise<RegistryProviderPlatform> {
  return db.insertInto('registryProviderPlatforms').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function update(
  db: Db,
  id: string,
  changes: Updateable<RegistryProviderPlatformTable>,
): Promise<void> {
  await db.updateTable('registryProviderPlatforms').set(changes).where('id', '=', id).execute()
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('registryProviderPlatforms').where('id', '=', id).execute()
}
