import { getFile } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { readFingerprint } from '../../lib/openpgp.ts'
import type { LogAction } from '../registry-log/service.ts'
import * as registryLog from '../registry-log/service.ts'
import type { PlatformFile, RegistryProviderVersion } from './store.ts'

interface Told {
  action: LogAction
  digests: Record<string, string>
  details?: Record<string, string> | undefined
}

/** Writes into the transparency log what happened to a version; last in its transaction. */
export async function logRelease(
  tx: Ctx,
  provider: { name: string; organizationId: string; organizationName: string },
  { version, asciiArmor }: Pick<RegistryProviderVersion, 'version' | 'asciiArmor'>,
  { action, digests, details }: Told,
): Promise<void> {
  await registryLog.append(tx, provider.organizationId, {
    action,
    subject: {
      kind: 'provider-version',
      namespace: provider.organizationName,
      name: provider.name,
      version,
      fingerprint: await readFingerprint(asciiArmor),
      digests,
      details,
    },
  })
}

/** The digests of what consumers get, by the name of the file. */
export async function digestsOf(
  tx: Ctx,
  { shasumsBlob }: Pick<RegistryProviderVersion, 'shasumsBlob'>,
  platforms: readonly PlatformFile[],
): Promise<Record<string, string>> {
  const uploaded = platforms.filter(({ binaryBlob }) => binaryBlob !== null)
  return {
    ...(shasumsBlob && { SHA256SUMS: (await getFile(tx, shasumsBlob)).sha256 }),
    ...Object.fromEntries(uploaded.map(({ filename, shasum }) => [filename, shasum])),
  }
}
