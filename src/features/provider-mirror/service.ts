import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { ProviderMirror as RunMirror } from '../../engine/channel.ts'
import { refuse, type Violation } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import { hostsOf, refusalOf } from './addresses.ts'
import type { ProviderMirror } from './store.ts'
import * as store from './store.ts'

/** What an organization takes from other registries, and whom it believes. */
export interface MirrorSettings {
  allowedProviders: string[]
  unlistedInRuns: ProviderMirror['unlistedInRuns']
  /** Upper-case hexadecimal. */
  trustedKeys: string[]
  trustOnFirstUse: boolean
}

/**
 * Until somebody says otherwise. Nothing is listed, so the server asks nobody, and runs install from wherever their
 * providers come from.
 */
const UNTOUCHED: MirrorSettings = {
  allowedProviders: [],
  unlistedInRuns: 'direct',
  trustedKeys: [],
  trustOnFirstUse: true,
}

/** An organization with its settings. */
export interface OrganizationMirror extends MirrorSettings {
  organization: Organization
}

/** The mirror of an organization, if the caller has `permission` there; 404 otherwise. */
export async function get(
  ctx: Ctx,
  organizationName: string,
  permission: Permission = 'registry:read',
): Promise<OrganizationMirror> {
  const organization = await organizations.getByName(ctx, organizationName, permission)
  return { organization, ...(await settingsOf(ctx, organization.id)) }
}

/** The same, by the id of the organization. */
export async function getById(
  ctx: Ctx,
  organizationId: string,
  permission: Permission = 'registry:read',
): Promise<OrganizationMirror> {
  const organization = await organizations.getById(ctx, organizationId, permission)
  return { organization, ...(await settingsOf(ctx, organizationId)) }
}

/** What an organization takes, for callers that were authorized there, or have a link of the server's. */
export async function settingsOf(ctx: Ctx, organizationId: string): Promise<MirrorSettings> {
  const row = await store.find(ctx.db, organizationId)
  if (!row) return UNTOUCHED
  const { unlistedInRuns, trustOnFirstUse } = row
  return {
    allowedProviders: JSON.parse(row.allowedProviders),
    unlistedInRuns,
    trustedKeys: JSON.parse(row.trustedKeys),
    trustOnFirstUse,
  }
}

/**
 * Changes what the organization takes. Whoever makes a list wants it to hold: with the first change runs are kept to
 * it, unless the request says otherwise.
 */
export function update(
  ctx: Ctx,
  organizationName: string,
  changes: Partial<MirrorSettings>,
): Promise<OrganizationMirror> {
  return inTransaction(ctx, async (tx) => {
    const { organization, ...before } = await get(tx, organizationName, 'registry-providers:manage')
    const isFirst = (await store.find(tx.db, organization.id)) === undefined
    const settings = { ...before, ...(isFirst && { unlistedInRuns: 'refused' as const }), ...changes }
    refuse(violationsOf(tx, settings))
    const { allowedProviders, trustedKeys, ...others } = normalized(settings)
    const listed = {
      allowedProviders: JSON.stringify(allowedProviders),
      trustedKeys: JSON.stringify(trustedKeys),
    }
    const row = { ...others, ...listed, organizationId: organization.id, updatedAt: tx.now() }
    await store.upsert(tx.db, row)
    await audit.record(tx, {
      action: 'update',
      organizationId: organization.id,
      resourceType: 'provider_mirror',
      resourceId: organization.name,
      meta: {
        'allowed-providers': allowedProviders.join(' '),
        'unlisted-in-runs': settings.unlistedInRuns,
        'trusted-keys': trustedKeys.join(' '),
        'trust-on-first-use': String(settings.trustOnFirstUse),
      },
    })
    return get(tx, organizationName)
  })
}

function normalized(settings: MirrorSettings): MirrorSettings {
  const distinct = (texts: string[]) => [...new Set(texts)].sort()
  return {
    ...settings,
    allowedProviders: distinct(settings.allowedProviders.map((pattern) => pattern.toLowerCase())),
    trustedKeys: distinct(settings.trustedKeys.map((key) => key.replaceAll(' ', '').toUpperCase())),
  }
}

function violationsOf({ baseUrl }: Ctx, { allowedProviders, trustedKeys }: MirrorSettings): Violation[] {
  const own = new URL(baseUrl).host
  const patterns = allowedProviders.flatMap((pattern, index) => {
    const ofThisServer =
      hostsOf([pattern.toLowerCase()])[0] === own && 'is of this server, which needs no mirror'
    const why = refusalOf(pattern.toLowerCase()) ?? ofThisServer
    const pointer = `/data/attributes/allowed-providers/${index}`
    return why ? [{ detail: `Allowed providers: "${pattern}" ${why}`, pointer }] : []
  })
  const keys = trustedKeys.flatMap((key, index) => {
    const pointer = `/data/attributes/trusted-keys/${index}`
    const isOne = /^[0-9a-f]{40}$/i.test(key.replaceAll(' ', ''))
    return isOne ? [] : [{ detail: 'Trusted keys must be fingerprints of 40 hexadecimal digits', pointer }]
  })
  return [...patterns, ...keys]
}

/** Of links by which the providers of an organization's list are installed. */
export const REGISTRY_LINK = 'provider-mirror'

/**
 * How a run installs providers: from the mirror what is listed, by links that end with the run's token; undefined
 * while the organization has no list. The caller is putting together what a worker is told.
 */
export async function ofRun(
  tx: Ctx,
  organizationId: string,
  token: { id: string; seconds: number },
): Promise<RunMirror | undefined> {
  const { allowedProviders, unlistedInRuns } = await settingsOf(tx, organizationId)
  if (allowedProviders.length === 0 && unlistedInRuns === 'direct') return undefined
  const target = { method: 'GET', kind: REGISTRY_LINK, id: organizationId, tokenId: token.id } as const
  const link = tx.links.sign(target, tx.now(), token.seconds)
  const hosts = hostsOf(allowedProviders).map((host) => ({ host, providers: `${link}/${host}/` }))
  return { hosts, allowed: allowedProviders, others: unlistedInRuns === 'direct' }
}

/** Removes the files of an organization that is being deleted. */
export async function removeFilesOf(tx: Ctx, { id }: Organization): Promise<void> {
  await authorize(tx, 'organizations:delete', id)
  await removeFiles(tx, await store.listBlobs(tx.db, { organizationId: id }))
}
