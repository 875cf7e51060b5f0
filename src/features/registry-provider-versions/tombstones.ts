import type { Ctx } from '../../context.ts'
import type { Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { RegistryProvider } from '../registry-providers/service.ts'
import type { VersionStatus } from './status.ts'
import type { PlatformFile } from './store.ts'
import * as store from './store.ts'

/** A version of a provider, for its tombstones. */
export interface Release {
  provider: RegistryProvider
  version: string
  status: VersionStatus
  shasumsBlob: string | null
  signatureBlob: string | null
}

/**
 * Remembers what was released of the platforms that are being deleted: lock files that people keep hold the
 * digests, so the same name with other contents would break them, or worse.
 */
export async function bury(tx: Ctx, release: Release, platforms: readonly PlatformFile[]): Promise<void> {
  if (!release.shasumsBlob || !release.signatureBlob) return
  for (const { os, arch, shasum, binaryBlob } of platforms) {
    if (binaryBlob === null) continue
    await store.insertTombstone(tx.db, {
      ...nameOf(release),
      id: newId('tomb'),
      os,
      arch,
      shasum,
      revoked: release.status === 'revoked',
      createdAt: tx.now(),
    })
  }
}

/**
 * What speaks against making this platform again: it was released with another digest, or its version was revoked, and
 * the organization does not allow reuse. Where it is allowed, the reuse is put on record.
 */
export async function reuseViolations(
  tx: Ctx,
  release: Release,
  platform: Pick<PlatformFile, 'os' | 'arch' | 'shasum'>,
): Promise<Violation[]> {
  const detail = await whyNot(tx, release, platform)
  if (detail === undefined) return []
  const organization = await organizations.ownerOf(tx, release.provider)
  if (!organization.providerVersionReuseEnabled) return [{ detail, pointer: '/data/attributes/shasum' }]
  await audit.record(tx, {
    action: 'reuse',
    organizationId: organization.id,
    resourceType: 'registry_provider_version',
    resourceId: `${release.provider.name} ${release.version} ${platform.os}_${platform.arch}`,
  })
  return []
}

async function whyNot(
  tx: Ctx,
  release: Release,
  { os, arch, shasum }: Pick<PlatformFile, 'os' | 'arch' | 'shasum'>,
): Promise<string | undefined> {
  const { version } = release
  if (await store.wasRevoked(tx.db, nameOf(release)))
    return `Version ${version} was revoked and then deleted; release what is to be installed as a new version`
  const released = await store.listReleased(tx.db, { ...nameOf(release), os, arch })
  if (released.length === 0 || released.includes(shasum)) return undefined
  return (
    `Shasum is not ${released.join(' or ')}, with which version ${version} was released for ${os}_${arch} before; ` +
    'release changed contents as a new version'
  )
}

/** Lets a version that is revoked no more have again what was deleted of it meanwhile. */
export function pardon(tx: Ctx, release: Release): Promise<void> {
  return store.pardon(tx.db, nameOf(release))
}

function nameOf({ provider, version }: Release) {
  return { organizationId: provider.organizationId, providerName: provider.name.toLowerCase(), version }
}
