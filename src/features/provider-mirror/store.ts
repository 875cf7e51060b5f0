import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { Address } from './addresses.ts'
import type {
  MirroredPackageTable,
  MirroredProviderTable,
  MirroredVersionTable,
  ProviderMirrorTable,
} from './table.ts'

export type ProviderMirror = Selectable<ProviderMirrorTable>
export type MirroredProvider = Selectable<MirroredProviderTable>
export type MirroredVersion = Selectable<MirroredVersionTable>
export type MirroredPackage = Selectable<MirroredPackageTable>

export function find(db: Db, organizationId: string): Promise<ProviderMirror | undefined> {
  return db
    .selectFrom('providerMirrors')
    .selectAll()
    .where('organizationId', '=', organizationId)
    .executeTakeFirst()
}

export async function upsert(db: Db, row: Insertable<ProviderMirrorTable>): Promise<void> {
  const { organizationId: _, ...changes } = row
  await db
    .insertInto('providerMirrors')
    .values(row)
    .onConflict((conflict) => conflict.column('organizationId').doUpdateSet(changes))
    .execute()
}

export function findProvider(
  db: Db,
  organizationId: string,
  { hostname, namespace, name }: Address,
): Promise<MirroredProvider | undefined> {
  return db
    .selectFrom('mirroredProviders')
    .selectAll()
    .where('organizationId', '=', organizationId)
    .where('hostname', '=', hostname)
    .where('namespace', '=', namespace)
    .where('name', '=', name)
    .executeTakeFirst()
}

export function findProviderById(db: Db, id: string): Promise<MirroredProvider | undefined> {
  return db.selectFrom('mirroredProviders').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Makes the provider's row, unless it is there. */
export async function ensureProvider(db: Db, row: Insertable<MirroredProviderTable>): Promise<void> {
  await db
    .insertInto('mirroredProviders')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['organizationId', 'hostname', 'namespace', 'name']).doNothing(),
    )
    .execute()
}

/** The provider, to be changed: others that want to change it, or what it has, wait. */
export function lockProvider(db: Db, id: string): Promise<MirroredProvider | undefined> {
  return db.selectFrom('mirroredProviders').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function updateProvider(
  db: Db,
  id: string,
  changes: Updateable<MirroredProviderTable>,
): Promise<void> {
  await db.updateTable('mirroredProviders').set(changes).where('id', '=', id).execute()
}

export async function removeProvider(db: Db, id: string): Promise<void> {
  await db.deleteFrom('mirroredProviders').where('id', '=', id).execute()
}

export function findVersion(
  db: Db,
  providerId: string,
  version: string,
): Promise<MirroredVersion | undefined> {
  return db
    .selectFrom('mirroredVersions')
    .selectAll()
    .where('providerId', '=', providerId)
    .where('version', '=', version)
    .executeTakeFirst()
}

export function findVersionById(db: Db, id: string) {
  return db
    .selectFrom('mirroredVersions as version')
    .innerJoin('mirroredProviders as provider', 'provider.id', 'version.providerId')
    .selectAll('version')
    .select(['provider.name', 'provider.organizationId'])
    .where('version.id', '=', id)
    .executeTakeFirst()
}

export async function insertVersion(
  db: Db,
  version: Insertable<MirroredVersionTable>,
  packages: readonly Insertable<MirroredPackageTable>[],
): Promise<void> {
  await db.insertInto('mirroredVersions').values(version).execute()
  for (const row of packages) await db.insertInto('mirroredPackages').values(row).execute()
}

/** The platforms of a version, with the sizes of the archives that are kept. */
export function listPackages(db: Db, versionId: string) {
  return db
    .selectFrom('mirroredPackages as package')
    .leftJoin('blobs', 'blobs.key', 'package.archiveBlob')
    .selectAll('package')
    .select('blobs.size')
    .where('package.versionId', '=', versionId)
    .orderBy('package.os')
    .orderBy('package.arch')
    .execute()
}

export type ListedPackage = Awaited<ReturnType<typeof listPackages>>[number]

function packages(db: Db) {
  return db
    .selectFrom('mirroredPackages as package')
    .innerJoin('mirroredVersions as version', 'version.id', 'package.versionId')
    .innerJoin('mirroredProviders as provider', 'provider.id', 'version.providerId')
    .selectAll('package')
    .select([
      'version.version',
      'provider.id as providerId',
      'provider.organizationId',
      'provider.hostname',
      'provider.namespace',
      'provider.name',
    ])
}

/** What is kept of a provider: each platform, with its version. */
export function listKeptOf(db: Db, providerId: string) {
  return db
    .selectFrom('mirroredVersions as version')
    .innerJoin('mirroredPackages as package', 'package.versionId', 'version.id')
    .select(['version.version', 'version.protocols', 'package.os', 'package.arch'])
    .where('version.providerId', '=', providerId)
    .where('package.archiveBlob', 'is not', null)
    .orderBy('version.createdAt')
    .orderBy('version.id')
    .execute()
}

/** A platform, with what it is of. */
export function findPackage(db: Db, id: string) {
  return packages(db).where('package.id', '=', id).executeTakeFirst()
}

export type FoundPackage = NonNullable<Awaited<ReturnType<typeof findPackage>>>

/** What is kept, the latest first. */
export function listKept(db: Db, organizationId: string, page: PageRequest) {
  const kept = packages(db)
    .innerJoin('blobs', 'blobs.key', 'package.archiveBlob')
    .select('blobs.size')
    .where('provider.organizationId', '=', organizationId)
  return paginate(kept.orderBy('package.fetchedAt', 'desc').orderBy('package.id'), page)
}

export type KeptPackage = Awaited<ReturnType<typeof listKept>>['items'][number]

export async function lockPackage(db: Db, id: string): Promise<MirroredPackage | undefined> {
  return db.selectFrom('mirroredPackages').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function updatePackage(
  db: Db,
  id: string,
  changes: Updateable<MirroredPackageTable>,
): Promise<void> {
  await db.updateTable('mirroredPackages').set(changes).where('id', '=', id).execute()
}

function summaries(db: Db) {
  return db
    .selectFrom('mirroredProviders as provider')
    .selectAll('provider')
    .select(
      sql<number>`(select count(*) from mirrored_packages package
        join mirrored_versions version on version.id = package.version_id
        where version.provider_id = provider.id and package.archive_blob is not null)`.as('keptPackages'),
    )
    .select(
      sql<number>`(select cast(coalesce(sum(blobs.size), 0) as bigint) from mirrored_packages package
        join mirrored_versions version on version.id = package.version_id
        join blobs on blobs.key = package.archive_blob
        where version.provider_id = provider.id)`.as('keptBytes'),
    )
}

/** The providers that somebody asked for, by address, each with what is kept of it. */
export function listProviders(db: Db, organizationId: string, page: PageRequest) {
  const all = summaries(db).where('provider.organizationId', '=', organizationId)
  return paginate(
    all.orderBy('provider.hostname').orderBy('provider.namespace').orderBy('provider.name'),
    page,
  )
}

export type ProviderSummary = Awaited<ReturnType<typeof listProviders>>['items'][number]

/** The keys of all files of one provider, or of all that the organization has. */
export async function listBlobs(
  db: Db,
  of: { providerId: string } | { organizationId: string },
): Promise<string[]> {
  const versions = db
    .selectFrom('mirroredVersions as version')
    .innerJoin('mirroredProviders as provider', 'provider.id', 'version.providerId')
    .where((eb) =>
      'providerId' in of
        ? eb('provider.id', '=', of.providerId)
        : eb('provider.organizationId', '=', of.organizationId),
    )
  const files = await versions.select(['version.shasumsBlob', 'version.signatureBlob']).execute()
  const archives = await versions
    .innerJoin('mirroredPackages as package', 'package.versionId', 'version.id')
    .select('package.archiveBlob')
    .where('package.archiveBlob', 'is not', null)
    .execute()
  return [
    ...files.flatMap(({ shasumsBlob, signatureBlob }) => [shasumsBlob, signatureBlob]),
    ...archives.flatMap(({ archiveBlob }) => archiveBlob ?? []),
  ]
}
