import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { newestFirst } from '../../lib/newest.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as organizations from '../organizations/service.ts'
import type { ModuleFilter, RegistryModule, VersionStatus } from './store.ts'
import * as store from './store.ts'

export type { RegistryModule } from './store.ts'

/** A module with how far each of its versions is, the newest first. */
export interface ModuleDetails extends RegistryModule {
  versions: VersionStatus[]
}

/** A module, as its address names it. */
export interface ModuleAddress {
  organizationName: string
  registryName: string
  namespace: string
  name: string
  provider: string
}

/** The address that the names in a path spell. */
export function addressOf(path: {
  organization_name: string
  registry_name: string
  namespace: string
  name: string
  provider: string
}): ModuleAddress {
  const { organization_name: organizationName, registry_name: registryName } = path
  const { namespace, name, provider } = path
  return { organizationName, registryName, namespace, name, provider }
}

/** The address of a private module. */
export function privateAddress(organizationName: string, name: string, provider: string): ModuleAddress {
  return { organizationName, registryName: 'private', namespace: organizationName, name, provider }
}

/** Where the API has a module. */
export function pathOf({ organizationName, registryName, namespace, name, provider }: ModuleAddress): string {
  return `/api/v2/organizations/${organizationName}/registry-modules/${registryName}/${namespace}/${name}/${provider}`
}

export interface ModuleAttributes {
  name: string
  provider: string
  registryName?: 'private' | 'public' | undefined
  namespace?: string | null | undefined
  noCode?: boolean | null | undefined
}

/** What the CLI takes as the namespace and the name of a module; its hosts know `<host>/<org>/<name>/<system>`. */
const ADDRESSABLE = /^[0-9a-z]([0-9a-z_-]{0,62}[0-9a-z])?$/i

/** The organization's modules by name. */
export async function list(ctx: Ctx, organizationName: string, filter: ModuleFilter, page: PageRequest) {
  const { id } = await organizations.getByName(ctx, organizationName, 'registry:read')
  const modules = await store.list(ctx.db, id, filter, page)
  return { ...modules, items: await withVersions(ctx, modules.items) }
}

/**
 * The module at an address, if the caller has `permission` in its organization; 404 otherwise. Addresses of public
 * modules answer 403 unless curation is switched on.
 */
export async function get(
  ctx: Ctx,
  address: ModuleAddress,
  permission: Permission = 'registry:read',
): Promise<RegistryModule> {
  const [module] = await listNamed(ctx, address, permission)
  if (!module) throw notFound()
  return module
}

/** Like `get`, for changes that only private modules allow; a public address answers 403. */
export async function getPrivate(
  ctx: Ctx,
  address: ModuleAddress,
  permission: Permission,
): Promise<RegistryModule> {
  if (address.registryName === 'public') {
    await organizations.getByName(ctx, address.organizationName, permission)
    throw new AppError('forbidden', 'This is not available for public modules.')
  }
  return get(ctx, address, permission)
}

/** The modules of one name, for each system or for one; none when there is no such module. */
async function listNamed(
  ctx: Ctx,
  address: Omit<ModuleAddress, 'provider'> & { provider?: string },
  permission: Permission,
): Promise<RegistryModule[]> {
  const { organizationName, registryName, namespace } = address
  const organization = await organizations.getByName(ctx, organizationName, permission)
  if (registryName === 'public') requireCuration(ctx)
  else if (registryName !== 'private' || !sameName(namespace, organization.name)) throw notFound()
  return store.listNamed(ctx.db, organization.id, registryName, address)
}

export async function getById(
  ctx: Ctx,
  id: string,
  permission: Permission = 'registry:read',
): Promise<RegistryModule> {
  const module = await store.find(ctx.db, id)
  if (!module) throw notFound()
  await authorize(ctx, permission, module.organizationId)
  return module
}

/** The module that a version is of, for files that a signed link let in; 404 when it is gone. */
export async function ownerOf(ctx: Ctx, { moduleId }: { moduleId: string }): Promise<RegistryModule> {
  const module = await store.find(ctx.db, moduleId)
  if (!module) throw notFound()
  return module
}

/** A module with its versions, for showing it. */
export async function detailsOf(ctx: Ctx, module: RegistryModule): Promise<ModuleDetails> {
  const [details] = await withVersions(ctx, [module])
  return details as ModuleDetails
}

async function withVersions(ctx: Ctx, modules: readonly RegistryModule[]): Promise<ModuleDetails[]> {
  const ids = modules.map(({ id }) => id)
  const versions = Map.groupBy(await store.listVersionStatuses(ctx.db, ids), ({ moduleId }) => moduleId)
  return modules.map((module) => ({ ...module, versions: newestFirst(versions.get(module.id) ?? []) }))
}

/** Adds a private module, whose versions are uploaded, or a pointer to a public one where curation is switched on. */
export function create(
  ctx: Ctx,
  organizationName: string,
  { name, provider, registryName = 'private', namespace, noCode }: ModuleAttributes,
): Promise<RegistryModule> {
  return inTransaction(ctx, async (tx) => {
    const organization = await organizations.getByName(tx, organizationName, 'registry-modules:manage')
    const isPublic = registryName === 'public'
    if (isPublic) requireCuration(tx)
    refuse(isPublic ? publicViolations(namespace) : privateViolations(organization, namespace))
    const now = tx.now()
    const id = newId('mod')
    await store
      .insert(tx.db, {
        id,
        organizationId: organization.id,
        registryName,
        namespace: isPublic ? (namespace ?? null) : null,
        name,
        provider,
        noCode: noCode ?? false,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTakenName)
    const module = await getById(tx, id)
    await recordChange(tx, 'create', module)
    return module
  })
}

export function update(
  ctx: Ctx,
  address: ModuleAddress,
  { noCode }: { noCode?: boolean | null | undefined },
): Promise<RegistryModule> {
  return inTransaction(ctx, async (tx) => {
    const module = await get(tx, address, 'registry-modules:manage')
    if (noCode === undefined) return module
    await store.update(tx.db, module.id, { noCode: noCode ?? false, updatedAt: tx.now() })
    await recordChange(tx, 'update', module)
    return getById(tx, module.id)
  })
}

/** Called before a module is deleted, in the same transaction, with nobody else changing the module. */
export type OnRemove = (tx: Ctx, module: RegistryModule) => Promise<void>

const removalHooks = new Set<OnRemove>()

/** Lets a slice that holds files of modules remove them in time; `app.ts` registers it. */
export function onRemove(hook: OnRemove): void {
  removalHooks.add(hook)
}

/** Deletes a module with its versions: for one system, or for every system that it is for. */
export function remove(
  ctx: Ctx,
  address: Omit<ModuleAddress, 'provider'> & { provider?: string },
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const modules = await listNamed(tx, address, 'registry-modules:manage')
    if (modules.length === 0) throw notFound()
    for (const module of modules) await removeWithVersions(tx, module)
  })
}

async function removeWithVersions(tx: Ctx, module: RegistryModule): Promise<void> {
  if (!(await store.lock(tx.db, module.id))) throw notFound()
  for (const hook of removalHooks) await hook(tx, module)
  await recordChange(tx, 'destroy', module)
  await store.remove(tx.db, module.id)
}

/** Keeps others from adding versions to the module, or deleting some, until the transaction ends. */
export async function lock(tx: Ctx, { id, organizationId }: RegistryModule): Promise<void> {
  await authorize(tx, 'registry-modules:manage', organizationId)
  if (!(await store.lock(tx.db, id))) throw notFound()
}

/** Deletes a module, which the caller has locked, if it has no version: the last one takes its module along. */
export async function removeIfEmpty(tx: Ctx, module: RegistryModule): Promise<void> {
  await authorize(tx, 'registry-modules:manage', module.organizationId)
  const versions = await store.listVersionStatuses(tx.db, [module.id])
  if (versions.length === 0) await removeWithVersions(tx, module)
}

/** Removes what the modules of an organization that is being deleted hold outside of the database. */
export async function removeFilesOf(tx: Ctx, organization: Organization): Promise<void> {
  await authorize(tx, 'organizations:delete', organization.id)
  for (const module of await store.listPrivate(tx.db, organization.id)) {
    for (const hook of removalHooks) await hook(tx, module)
  }
}

function requireCuration(ctx: Ctx): void {
  if (ctx.config.publicProviderCuration) return
  throw new AppError('forbidden', 'Public module curation is disabled (PLINTH_PUBLIC_PROVIDER_CURATION).')
}

const NAMESPACE = '/data/attributes/namespace'

function publicViolations(namespace: string | null | undefined): Violation[] {
  if (namespace && ADDRESSABLE.test(namespace)) return []
  const detail = 'Namespace must be that of the public module: letters, digits, inner hyphens and underscores'
  return [{ detail, pointer: NAMESPACE }]
}

function privateViolations({ name }: Organization, namespace: string | null | undefined): Violation[] {
  if (namespace && !sameName(namespace, name)) {
    const detail = `Namespace must be left out, or ${name}, the organization's name, for a private module`
    return [{ detail, pointer: NAMESPACE }]
  }
  if (ADDRESSABLE.test(name)) return []
  const detail =
    'Namespace cannot be used: terraform accepts organizations of up to 64 letters, digits, inner hyphens and underscores only'
  return [{ detail, pointer: NAMESPACE }]
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function recordChange(tx: Ctx, action: string, { id, organizationId }: RegistryModule): Promise<void> {
  return audit.record(tx, { action, organizationId, resourceType: 'registry_module', resourceId: id })
}

function refuseTakenName(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Name has already been taken for this provider', {
    pointer: '/data/attributes/name',
    cause: error,
  })
}
