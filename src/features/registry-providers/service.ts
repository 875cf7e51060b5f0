import { authorize, can } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import type { ProviderFilter, RegistryProvider } from './store.ts'
import * as store from './store.ts'

export type { RegistryProvider } from './store.ts'

/** A provider, as its address names it. */
export interface ProviderAddress {
  organizationName: string
  registryName: string
  namespace: string
  name: string
}

/** The address that the names in a path spell. */
export function addressOf(path: {
  organization_name: string
  registry_name: string
  namespace: string
  name: string
}): ProviderAddress {
  const { organization_name: organizationName, registry_name: registryName, namespace, name } = path
  return { organizationName, registryName, namespace, name }
}

/** Where the API has a provider. */
export function pathOf({ organizationName, registryName, namespace, name }: ProviderAddress): string {
  return `/api/v2/organizations/${organizationName}/registry-providers/${registryName}/${namespace}/${name}`
}

export interface ProviderAttributes {
  registryName: 'private' | 'public'
  namespace: string
  name: string
}

/** What a provider's name and its organization's must look like for the CLI to accept `<host>/<org>/<name>`. */
const ADDRESSABLE = /^[0-9a-z]+(-[0-9a-z]+)*$/i

/** The organization's providers by name. */
export async function list(ctx: Ctx, organizationName: string, filter: ProviderFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  return store.list(ctx.db, id, filter, page)
}

/**
 * The provider at an address, if the caller has `permission` in its organization; 404 otherwise. Addresses of
 * public providers answer 403 unless curation is switched on.
 */
export async function get(
  ctx: Ctx,
  address: ProviderAddress,
  permission: Permission = 'registry:read',
): Promise<RegistryProvider> {
  const { organization, provider } = await locate(ctx, address, permission)
  return found(address.registryName === 'public' ? await findPublic(ctx, organization, address) : provider)
}

/** Like `get`, for changes that only private providers allow; a public address answers 403. */
export async function getPrivate(
  ctx: Ctx,
  address: ProviderAddress,
  permission: Permission,
): Promise<RegistryProvider> {
  const { provider } = await locate(ctx, address, permission)
  if (address.registryName === 'public') {
    throw new AppError('forbidden', 'This is not available for public providers.')
  }
  return found(provider)
}

/** A token may be limited to the provider, so which that is has to be known before permission is asked for. */
async function locate(ctx: Ctx, address: ProviderAddress, permission: Permission) {
  const organization = await organizations.findByName(ctx, address.organizationName)
  if (!organization) throw notFound()
  const { id, name } = organization
  const isPrivate = address.registryName === 'private' && sameName(address.namespace, name)
  const provider = isPrivate ? await store.findPrivate(ctx.db, id, address.name) : undefined
  await authorize(ctx, permission, id, provider?.id)
  return { organization, provider }
}

function findPublic(ctx: Ctx, { id }: Organization, { namespace, name }: ProviderAddress) {
  requireCuration(ctx)
  return store.findPublic(ctx.db, id, namespace, name)
}

function found(provider: RegistryProvider | undefined): RegistryProvider {
  if (!provider) throw notFound()
  return provider
}

export async function getById(
  ctx: Ctx,
  id: string,
  permission: Permission = 'registry:read',
): Promise<RegistryProvider> {
  const provider = await store.find(ctx.db, id)
  if (!provider) throw notFound()
  await authorize(ctx, permission, provider.organizationId, provider.id)
  return provider
}

/** Those of the private providers with these ids that the subject may see, for limiting a token to them. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<RegistryProvider[]> {
  const visible: RegistryProvider[] = []
  for (const provider of await store.listByIds(ctx.db, ids)) {
    const isSeen = await can(ctx, 'registry:read', provider.organizationId)
    if (isSeen && provider.registryName === 'private') visible.push(provider)
  }
  return visible
}

/** Adds a private provider, or a pointer to a public one where curation is switched on. */
export function create(
  ctx: Ctx,
  organizationName: string,
  attributes: ProviderAttributes,
): Promise<RegistryProvider> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'registry-providers:manage')
    const { registryName, namespace, name } = attributes
    if (registryName === 'public') requireCuration(tx)
    else refuseUnaddressable(organization, attributes)
    const now = tx.now()
    const id = newId('prov')
    await store
      .insert(tx.db, {
        id,
        organizationId: organization.id,
        registryName,
        namespace: registryName === 'public' ? namespace : null,
        name,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTakenName)
    const provider = await getById(tx, id)
    await recordChange(tx, 'create', provider)
    return provider
  })
}

/** Called before a provider is deleted, in the same transaction. */
export type OnRemove = (tx: Ctx, provider: RegistryProvider) => Promise<void>

const removalHooks = new Set<OnRemove>()

/** Lets a slice that holds files of providers remove them in time; `app.ts` registers it. */
export function onRemove(hook: OnRemove): void {
  removalHooks.add(hook)
}

/** Deletes a provider with its versions and platforms. */
export function remove(ctx: Ctx, address: ProviderAddress): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const provider = await get(tx, address, 'registry-providers:manage')
    for (const hook of removalHooks) await hook(tx, provider)
    await recordChange(tx, 'destroy', provider)
    if (!(await store.remove(tx.db, provider.id))) throw notFound()
  })
}

/** Removes what the providers of an organization that is being deleted hold outside of the database. */
export async function removeFilesOf(tx: Ctx, organization: Organization): Promise<void> {
  await authorize(tx, 'organizations:delete', organization.id)
  for (const provider of await store.listAll(tx.db, organization.id)) {
    for (const hook of removalHooks) await hook(tx, provider)
  }
}

/** The private provider that a CLI address `<namespace>/<name>` means, for members of its organization. */
export async function getByCliAddress(ctx: Ctx, namespace: string, name: string): Promise<RegistryProvider> {
  return get(ctx, { organizationName: namespace, registryName: 'private', namespace, name })
}

function requireCuration(ctx: Ctx): void {
  if (ctx.config.publicProviderCuration) return
  throw new AppError('forbidden', 'Public provider curation is disabled (PLINTH_PUBLIC_PROVIDER_CURATION).')
}

function refuseUnaddressable(organization: Organization, { namespace, name }: ProviderAttributes): void {
  const violations = []
  if (!sameName(namespace, organization.name)) {
    violations.push({
      detail: `Namespace must be ${organization.name}, the organization's name, for a private provider`,
      pointer: '/data/attributes/namespace',
    })
  } else if (!ADDRESSABLE.test(organization.name)) {
    violations.push({
      detail: 'Namespace cannot be used: terraform accepts letters, digits and single inner hyphens only',
      pointer: '/data/attributes/namespace',
    })
  }
  if (!ADDRESSABLE.test(name) || /^terraform-/i.test(name)) {
    violations.push({
      detail:
        'Name is invalid: letters, digits and single inner hyphens only, not beginning with terraform-; terraform cannot address other names',
      pointer: '/data/attributes/name',
    })
  }
  refuse(violations)
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function recordChange(tx: Ctx, action: string, { id, organizationId }: RegistryProvider): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'registry_provider', resourceId: id })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
