import { authorizeSiteAdmin } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import * as store from './store.ts'

/** What an organization stores in the registry, and what it may; in bytes. */
export interface Usage {
  organization: Organization
  /** The organization's own quota; null for that of the configuration. */
  quota: number | null
  /** The quota that counts; 0 is no limit. */
  allowed: number
  used: number
}

/** Site administrators only, who need not be in the organization. */
export async function get(ctx: Ctx, organizationName: string): Promise<Usage> {
  authorizeSiteAdmin(ctx)
  const organization = await organizations.findByName(ctx, organizationName)
  if (!organization) throw notFound()
  const quota = (await store.find(ctx.db, organization.id)) ?? null
  const allowed = quota ?? ctx.config.registryQuotaBytes
  return { organization, quota, allowed, used: await store.sumBytes(ctx.db, organization.id) }
}

/**
 * Gives an organization a quota of its own: bytes, 0 for no limit, null for that of the configuration, undefined for
 * what it has. What is stored already stays, also when it is more.
 */
export function update(ctx: Ctx, organizationName: string, quota: number | null | undefined): Promise<Usage> {
  return inTransaction(ctx, async (tx) => {
    const known = await get(tx, organizationName)
    if (quota === undefined) return known
    const { organization } = known
    const { id: organizationId, name } = organization
    if (quota === null) await store.remove(tx.db, organizationId)
    else await store.upsert(tx.db, { organizationId, bytes: quota, updatedAt: tx.now() })
    await audit.record(tx, {
      action: 'update',
      organizationId,
      resourceType: 'organization',
      resourceId: name,
      meta: { 'registry-quota-bytes': quota === null ? null : String(quota) },
    })
    return get(tx, organizationName)
  })
}

/**
 * Refuses (413) what the organization has no room for, before it is received. Of a file whose size nobody
 * announced, at least one byte has to fit. For callers that were authorized in the organization.
 */
export async function requireRoom(ctx: Ctx, organizationId: string, bytes = 1): Promise<void> {
  const allowed = (await store.find(ctx.db, organizationId)) ?? ctx.config.registryQuotaBytes
  if (allowed > 0) await refuseBeyond(ctx, organizationId, bytes, allowed)
}

/**
 * The same in the transaction that records the file: of uploads that end at the same moment, each counts those
 * before it.
 */
export async function claimRoom(tx: Ctx, organizationId: string, bytes: number): Promise<void> {
  const allowed = (await store.find(tx.db, organizationId)) ?? tx.config.registryQuotaBytes
  if (allowed === 0) return
  await store.lockOrganization(tx.db, organizationId)
  await refuseBeyond(tx, organizationId, bytes, allowed)
}

async function refuseBeyond(ctx: Ctx, organizationId: string, bytes: number, allowed: number): Promise<void> {
  const used = await store.sumBytes(ctx.db, organizationId)
  if (used + bytes <= allowed) return
  const { name } = await organizations.ownerOf(ctx, { organizationId })
  throw new AppError(
    'tooLarge',
    `The file of ${bytes} bytes is too large for the registry quota of organization ${name}: it uses ${used} of ` +
      `${allowed} bytes. Delete versions or platforms that nobody needs, or ask a site administrator for more.`,
  )
}
