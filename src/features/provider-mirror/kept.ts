import { authorize } from '../../auth/authorize.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import type { Page, PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import { spell } from './addresses.ts'
import type { KeptPackage, ProviderSummary } from './store.ts'
import * as store from './store.ts'

export type { KeptPackage, ProviderSummary } from './store.ts'

/** The providers that the organization's mirror was asked for, by address. */
export async function listProviders(
  ctx: Ctx,
  organizationName: string,
  page: PageRequest,
): Promise<Page<ProviderSummary>> {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  return store.listProviders(ctx.db, id, page)
}

/** The archives that are kept, the latest first. */
export async function listPackages(
  ctx: Ctx,
  organizationName: string,
  page: PageRequest,
): Promise<Page<KeptPackage>> {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  return store.listKept(ctx.db, id, page)
}

/** Forgets a provider: what is kept of it, its digests, and whose key it is believed by. */
export function removeProvider(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const provider = await store.findProviderById(tx.db, id)
    if (!provider) throw notFound()
    const { organizationId } = provider
    await authorize(tx, 'registry-providers:manage', organizationId)
    await store.lockProvider(tx.db, id)
    await removeFiles(tx, await store.listBlobs(tx.db, { providerId: id }))
    await store.removeProvider(tx.db, id)
    await audit.record(tx, {
      action: 'destroy',
      organizationId,
      resourceType: 'mirrored_provider',
      resourceId: id,
      meta: { provider: spell(provider) },
    })
  })
}

/** Gives the room of an archive back. Its digest is remembered: it comes back as it was, or not at all. */
export function removePackage(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const found = await store.findPackage(tx.db, id)
    if (!found) throw notFound()
    const { organizationId, version, os, arch } = found
    await authorize(tx, 'registry-providers:manage', organizationId)
    const row = await store.lockPackage(tx.db, id)
    if (!row?.archiveBlob) throw notFound()
    await store.updatePackage(tx.db, id, { archiveBlob: null, packageHash: null, fetchedAt: null })
    await removeFiles(tx, [row.archiveBlob])
    await audit.record(tx, {
      action: 'destroy',
      organizationId,
      resourceType: 'mirrored_package',
      resourceId: id,
      meta: { provider: spell(found), version, platform: `${os}_${arch}` },
    })
  })
}
