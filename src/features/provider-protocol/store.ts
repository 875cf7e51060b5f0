import { among } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'

/**
 * The platforms of a provider that can be installed: those of versions with one of these `statuses` whose archive is
 * there. What is uploaded was verified. In the order in which they were announced.
 */
export function listInstallable(db: Db, providerId: string, statuses: readonly string[], version?: string) {
  const installable = db
    .selectFrom('registryProviderPlatforms as platform')
    .innerJoin('registryProviderVersions as version', 'version.id', 'platform.versionId')
    .innerJoin('blobs as binary', 'binary.key', 'platform.binaryBlob')
    .select([
      'version.id as versionId',
      'version.version',
      'version.protocols',
      'version.keyId',
      'version.keyExpiresAt',
      'version.status',
      'version.deprecationReason',
      'version.deprecationLink',
      'version.revocationMessage',
      'version.revocationLink',
      'version.asciiArmor',
      'platform.id',
      'platform.os',
      'platform.arch',
      'platform.filename',
      'platform.shasum',
      'platform.packageHash',
      'binary.size',
    ])
    .where('version.providerId', '=', providerId)
    .where((eb) => among(eb, 'version.status', statuses))
  const wanted = version === undefined ? installable : installable.where('version.version', '=', version)
  return wanted.orderBy('version.createdAt').orderBy('version.id').orderBy('platform.createdAt').execute()
}

export type InstallablePlatform = Awaited<ReturnType<typeof listInstallable>>[number]
