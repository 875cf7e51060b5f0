import { sql } from 'kysely'
import type { Db } from '../../db/transaction.ts'

/** The organization's own quota in bytes; undefined when it has none. */
export async function find(db: Db, organizationId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('registryQuotas')
    .select('bytes')
    .where('organizationId', '=', organizationId)
    .executeTakeFirst()
  return row?.bytes
}

export async function upsert(
  db: Db,
  row: { organizationId: string; bytes: number; updatedAt: string },
): Promise<void> {
  const { bytes, updatedAt } = row
  await db
    .insertInto('registryQuotas')
    .values(row)
    .onConflict((conflict) => conflict.column('organizationId').doUpdateSet({ bytes, updatedAt }))
    .execute()
}

export async function remove(db: Db, organizationId: string): Promise<void> {
  await db.deleteFrom('registryQuotas').where('organizationId', '=', organizationId).execute()
}

/** Holds back others that would store something for the organization until the transaction ends. */
export async function lockOrganization(db: Db, organizationId: string): Promise<void> {
  await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** The bytes of all files that the organization's providers and modules have. */
export async function sumBytes(db: Db, organizationId: string): Promise<number> {
  const versions = db
    .selectFrom('registryProviders as provider')
    .innerJoin('registryProviderVersions as version', 'version.providerId', 'provider.id')
    .where('provider.organizationId', '=', organizationId)
  const keys = versions
    .select('version.shasumsBlob as key')
    .unionAll(versions.select('version.signatureBlob as key'))
    .unionAll(
      versions
        .innerJoin('registryProviderPlatforms as platform', 'platform.versionId', 'version.id')
        .select('platform.binaryBlob as key'),
    )
    .unionAll(
      db
        .selectFrom('registryModules as module')
        .innerJoin('registryModuleVersions as release', 'release.moduleId', 'module.id')
        .where('module.organizationId', '=', organizationId)
        .select('release.archiveBlob as key'),
    )
  const mirrored = db
    .selectFrom('mirroredProviders as upstream')
    .innerJoin('mirroredVersions as mirrored', 'mirrored.providerId', 'upstream.id')
    .where('upstream.organizationId', '=', organizationId)
  const all = keys
    .unionAll(mirrored.select('mirrored.shasumsBlob as key'))
    .unionAll(mirrored.select('mirrored.signatureBlob as key'))
    .unionAll(
      mirrored
        .innerJoin('mirroredPackages as package', 'package.versionId', 'mirrored.id')
        .select('package.archiveBlob as key'),
    )
  const { used } = await db
    .selectFrom(all.as('file'))
    .innerJoin('blobs', 'blobs.key', 'file.key')
    .select(sql<number>`cast(coalesce(sum(blobs.size), 0) as bigint)`.as('used'))
    .executeTakeFirstOrThrow()
  return used
}
