import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { VersionStatus } from './status.ts'
import type { RegistryProviderTombstoneTable, RegistryProviderVersionTable } from './table.ts'

export type RegistryProviderVersion = Selectable<RegistryProviderVersionTable>

export interface DocumentedVersion extends RegistryProviderVersion {
  /** Digest of the archive of its documentation, hexadecimal; null without one. */
  docsSha256: string | null
}

/** The provider of a version, as far as its files need to know it. */
export interface VersionOwner {
  id: string
  name: string
  organizationId: string
  organizationName: string
}

/** What the release files of a version have to agree with. */
export interface PlatformFile {
  id: string
  versionId: string
  os: string
  arch: string
  filename: string
  shasum: string
  binaryBlob: string | null
}

export interface CountedPlatform extends PlatformFile {
  downloads: number
}

/** In the order they were made. */
export function list(db: Db, providerId: string, page: PageRequest) {
  const versions = documented(db).where('providerId', '=', providerId)
  return paginate(versions.orderBy('createdAt').orderBy('id'), page)
}

export function listAll(db: Db, providerId: string): Promise<RegistryProviderVersion[]> {
  return db.selectFrom('registryProviderVersions').selectAll().where('providerId', '=', providerId).execute()
}

export function find(db: Db, id: string): Promise<DocumentedVersion | undefined> {
  return documented(db).where('id', '=', id).executeTakeFirst()
}

/** The provider that the version is of. */
export function findProvider(db: Db, id: string): Promise<VersionOwner | undefined> {
  return db
    .selectFrom('registryProviderVersions')
    .innerJoin('registryProviders', 'registryProviders.id', 'registryProviderVersions.providerId')
    .innerJoin('organizations', 'organizations.id', 'registryProviders.organizationId')
    .select([
      'registryProviders.id',
      'registryProviders.name',
      'registryProviders.organizationId',
      'organizations.name as organizationName',
    ])
    .where('registryProviderVersions.id', '=', id)
    .executeTakeFirst()
}

/** The version, to be changed: others that want to change it wait. */
export function lock(db: Db, id: string): Promise<RegistryProviderVersion | undefined> {
  return db
    .selectFrom('registryProviderVersions')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

export function findByVersion(
  db: Db,
  providerId: string,
  version: string,
): Promise<DocumentedVersion | undefined> {
  return documented(db).where('providerId', '=', providerId).where('version', '=', version).executeTakeFirst()
}

function documented(db: Db) {
  return db
    .selectFrom('registryProviderVersions')
    .selectAll('registryProviderVersions')
    .select(({ selectFrom }) =>
      selectFrom('registryProviderDocs as docs')
        .select('docs.sha256')
        .whereRef('docs.versionId', '=', 'registryProviderVersions.id')
        .as('docsSha256'),
    )
}

export async function listPlatforms(db: Db, versionIds: readonly string[]): Promise<CountedPlatform[]> {
  if (versionIds.length === 0) return []
  return db
    .selectFrom('registryProviderPlatforms')
    .select(['id', 'versionId', 'os', 'arch', 'filename', 'shasum', 'binaryBlob'])
    .select(({ selectFrom }) =>
      selectFrom('registryProviderDownloads as download')
        .select(sql<number>`cast(coalesce(sum(download.count), 0) as bigint)`.as('downloads'))
        .whereRef('download.platformId', '=', 'registryProviderPlatforms.id')
        .$asScalar()
        .as('downloads'),
    )
    .where('versionId', 'in', versionIds)
    .orderBy('createdAt')
    .orderBy('id')
    .execute()
}

/** Versions of private providers that were last changed before `before` and that were never published. */
export function listDrafts(db: Db, before: string) {
  return drafts(db, before).limit(1000).execute()
}

export async function isDraft(db: Db, id: string, before: string): Promise<boolean> {
  return (await drafts(db, before).where('version.id', '=', id).executeTakeFirst()) !== undefined
}

/** A platform that was added or filled counts as a change of its version. */
function drafts(db: Db, before: string) {
  return db
    .selectFrom('registryProviderVersions as version')
    .select(['version.id', 'version.providerId'])
    .where('version.updatedAt', '<', before)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('registryProviderPlatforms as platform')
            .select('platform.id')
            .whereRef('platform.versionId', '=', 'version.id')
            .where('platform.updatedAt', '>=', before),
        ),
      ),
    )
    .where('version.status', '=', 'draft')
    .orderBy('version.updatedAt')
}

/** A version's platforms, which nobody can change until the transaction ends. */
export function lockPlatforms(db: Db, versionId: string): Promise<PlatformFile[]> {
  return db
    .selectFrom('registryProviderPlatforms')
    .select(['id', 'versionId', 'os', 'arch', 'filename', 'shasum', 'binaryBlob'])
    .where('versionId', '=', versionId)
    .forUpdate()
    .execute()
}

export function insert(
  db: Db,
  row: Insertable<RegistryProviderVersionTable>,
): Promise<RegistryProviderVersion> {
  return db.insertInto('registryProviderVersions').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function update(
  db: Db,
  id: string,
  changes: Omit<Updateable<RegistryProviderVersionTable>, 'status'>,
): Promise<void> {
  await db.updateTable('registryProviderVersions').set(changes).where('id', '=', id).execute()
}

/** Changes the version if its status is still `from`; whether it did. */
export async function move(
  db: Db,
  id: string,
  from: VersionStatus,
  changes: Updateable<RegistryProviderVersionTable>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('registryProviderVersions')
    .set(changes)
    .where('id', '=', id)
    .where('status', '=', from)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('registryProviderVersions').where('id', '=', id).execute()
}

export async function insertTombstone(
  db: Db,
  row: Insertable<RegistryProviderTombstoneTable>,
): Promise<void> {
  await db
    .insertInto('registryProviderTombstones')
    .values(row)
    .onConflict((conflict) =>
      row.revoked ? conflict.columns(RELEASE).doUpdateSet({ revoked: true }) : conflict.doNothing(),
    )
    .execute()
}

const RELEASE = ['organizationId', 'providerName', 'version', 'os', 'arch', 'shasum'] as const

/** The digests under which a platform of a version was released and then deleted. */
export async function listReleased(
  db: Db,
  release: Record<'organizationId' | 'providerName' | 'version' | 'os' | 'arch', string>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('registryProviderTombstones')
    .select('shasum')
    .where('organizationId', '=', release.organizationId)
    .where('providerName', '=', release.providerName)
    .where('version', '=', release.version)
    .where('os', '=', release.os)
    .where('arch', '=', release.arch)
    .execute()
  return rows.map(({ shasum }) => shasum)
}

type ReleaseName = Record<'organizationId' | 'providerName' | 'version', string>

/** Whether a version was revoked when it, or something of it, was deleted. */
export async function wasRevoked(db: Db, release: ReleaseName): Promise<boolean> {
  const row = await db
    .selectFrom('registryProviderTombstones')
    .select('id')
    .where('organizationId', '=', release.organizationId)
    .where('providerName', '=', release.providerName)
    .where('version', '=', release.version)
    .where('revoked', '=', true)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function pardon(db: Db, release: ReleaseName): Promise<void> {
  await db
    .updateTable('registryProviderTombstones')
    .set({ revoked: false })
    .where('organizationId', '=', release.organizationId)
    .where('providerName', '=', release.providerName)
    .where('version', '=', release.version)
    .execute()
}
