import type { Ctx } from '../../context.ts'
import { AppError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import type { RegistryModule } from '../registry-modules/service.ts'
import * as store from './store.ts'

/** A version of a module, for its tombstone. */
export interface Release {
  module: RegistryModule
  version: string
}

/** Remembers a published version that is being deleted: whoever uses it would not notice other contents. */
export function bury(tx: Ctx, release: Release, sha256: string): Promise<void> {
  return store.insertTombstone(tx.db, {
    ...nameOf(release),
    id: newId('tomb'),
    sha256,
    createdAt: tx.now(),
  })
}

/**
 * Refuses (422) other contents than those that the version was published with before it was deleted, unless the
 * organization allows its reuse. Where it is allowed, the reuse is put on record.
 */
export async function refuseReuse(tx: Ctx, release: Release, sha256: string): Promise<void> {
  const released = await store.listReleased(tx.db, nameOf(release))
  if (released.length === 0 || released.includes(sha256)) return
  const { module, version } = release
  const organization = await organizations.ownerOf(tx, module)
  if (!organization.providerVersionReuseEnabled) {
    throw new AppError(
      'unprocessable',
      `The archive has SHA-256 ${sha256}, but version ${version} was published with ${released.join(' or ')} ` +
        'before it was deleted; publish changed contents as a new version.',
    )
  }
  await audit.record(tx, {
    action: 'reuse',
    organizationId: organization.id,
    resourceType: 'registry_module_version',
    resourceId: `${module.name} ${module.provider} ${version}`,
  })
}

function nameOf({ module, version }: Release) {
  const { organizationId, name, provider } = module
  return { organizationId, name: name.toLowerCase(), provider, version }
}
