import type { Db } from '../../db/transaction.ts'

/**
 * The platforms of a provider that can be installed: everything is uploaded, and what is uploaded was
 * verified. In the order they were published.
 */
export function listInstallable(db: Db, providerId: string, version?: string) {
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
    .where('version.shasumsBlob', 'is not', null)
    .where('version.signatureBlob', 'is not', null)
  const wanted = version === undefined ? installable : installable.where('version.version', '=', version)
  return wanted.orderBy('version.createdAt').orderBy('version.id').orderBy('platform.createdAt').execute()
}

export type InstallablePlatform = Awaited<ReturnType<typeof listInstallable>>[number]
