import { authorize } from '../../auth/authorize.ts'
import type { Permission } from '../../auth/permissions.ts'
import { removeFiles } from '../../blobs/files.ts'
import type { Ctx, Services } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { ModuleDescription } from '../../lib/module-description.ts'
import { newestFirst } from '../../lib/newest.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { ModuleAddress, RegistryModule } from '../registry-modules/service.ts'
import * as modules from '../registry-modules/service.ts'
import type { VersionDetails } from './details.ts'
import { note } from './log.ts'
import * as store from './store.ts'
import { writeAll } from './tally.ts'
import { bury } from './tombstones.ts'

export type { VersionDetails } from './details.ts'

export interface VersionAttributes {
  version: string
  commitSha?: string | null | undefined
}

/** The versions of a module, in the order they were made; public modules have none here. */
export async function list(ctx: Ctx, address: ModuleAddress, page: PageRequest) {
  const module = await modules.get(ctx, address)
  const versions = await store.list(ctx.db, module.id, page)
  return { ...versions, items: versions.items.map((version) => ({ ...version, module })) }
}

/** The versions of a module that can be installed, the newest first. */
export async function listPublished(ctx: Ctx, module: RegistryModule): Promise<VersionDetails[]> {
  await authorize(ctx, 'registry:read', module.organizationId)
  const published = await store.listPublished(ctx.db, module.id)
  return newestFirst(published).map((version) => ({ ...version, module }))
}

/** A version of a module, if the caller has `permission` in its organization; 404 otherwise. */
export async function get(
  ctx: Ctx,
  address: ModuleAddress,
  version: string,
  permission: Permission = 'registry:read',
): Promise<VersionDetails> {
  const module = await modules.get(ctx, address, permission)
  const found = await store.findByVersion(ctx.db, module.id, version)
  if (!found) throw notFound()
  return { ...found, module }
}

/** What is known of the contents of a version; undefined until it is uploaded. */
export async function describe(
  ctx: Ctx,
  { id, module }: VersionDetails,
): Promise<ModuleDescription | undefined> {
  await authorize(ctx, 'registry:read', module.organizationId)
  const content = await store.findDescription(ctx.db, id)
  return content === undefined ? undefined : JSON.parse(content)
}

/** Writes down the downloads that were counted, as a server does that stops. */
export function writeDownloads(services: Services): Promise<void> {
  return writeAll(services)
}

/** Announces a version, whose archive is yet to come. */
export function create(
  ctx: Ctx,
  address: ModuleAddress,
  { version, commitSha }: VersionAttributes,
): Promise<VersionDetails> {
  return inTransaction(ctx, async (tx) => {
    const module = await modules.getPrivate(tx, address, 'registry-modules:manage')
    await modules.lock(tx, module)
    if (await store.findByVersion(tx.db, module.id, version)) refuse([TAKEN])
    const now = tx.now()
    const id = newId('modver')
    await store
      .insert(tx.db, {
        id,
        moduleId: module.id,
        version,
        status: 'pending',
        error: null,
        commitSha: commitSha ?? null,
        archiveBlob: null,
        warnings: '[]',
        publishedAt: null,
        deprecatedAt: null,
        deprecationReason: null,
        deprecationLink: null,
        createdById: tx.subject?.kind === 'user' ? tx.subject.id : null,
        createdAt: now,
        updatedAt: now,
      })
      .catch(refuseTaken)
    const created = await reread(tx, id, module)
    await recordChange(tx, 'create', created)
    return created
  })
}

async function reread(tx: Ctx, id: string, module: RegistryModule): Promise<VersionDetails> {
  const version = await store.find(tx.db, id)
  if (!version) throw notFound()
  return { ...version, module }
}

/** What people are told who use a version that they should leave. */
export interface Deprecation {
  reason: string | null
  link: string | null
}

/** Deprecates a published version, or changes what is said of it; null takes that back. */
export function deprecate(
  ctx: Ctx,
  address: ModuleAddress,
  version: string,
  deprecation: Deprecation | null,
): Promise<VersionDetails> {
  return inTransaction(ctx, async (tx) => {
    const { id, module } = await get(tx, address, version, 'registry-modules:manage')
    await store.lock(tx.db, id)
    const known = await reread(tx, id, module)
    if (known.status !== 'ok')
      throw new AppError('conflict', 'The version is not published yet; upload its archive first.')
    if (deprecation === null && known.deprecatedAt === null) return known
    await store.update(tx.db, id, {
      deprecatedAt: deprecation && (known.deprecatedAt ?? tx.now()),
      deprecationReason: deprecation?.reason ?? null,
      deprecationLink: deprecation?.link ?? null,
      updatedAt: tx.now(),
    })
    const details = await reread(tx, id, module)
    const action = deprecation ? 'deprecate' : 'undeprecate'
    await recordChange(tx, action, details)
    await note(tx, action, details)
    return details
  })
}

/** Deletes a version with its archive; links to it die with it. The last version takes its module along. */
export function remove(ctx: Ctx, address: ModuleAddress, version: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { id, module } = await get(tx, address, version, 'registry-modules:manage')
    await modules.lock(tx, module)
    await store.lock(tx.db, id)
    await removeWithFile(tx, await reread(tx, id, module))
    await modules.removeIfEmpty(tx, module)
  })
}

/** Deletes the versions of a module that is being deleted. */
export async function removeAll(tx: Ctx, module: RegistryModule): Promise<void> {
  await authorize(tx, 'registry-modules:manage', module.organizationId)
  for (const id of await store.lockAll(tx.db, module.id)) {
    await removeWithFile(tx, await reread(tx, id, module))
  }
}

/** Of a version that the caller has locked, so that an upload is either seen here or finds nothing. */
async function removeWithFile(tx: Ctx, details: VersionDetails): Promise<void> {
  const { id, archiveBlob, sha256 } = details
  if (sha256) {
    await bury(tx, details, sha256)
    await note(tx, 'delete', details)
  }
  await recordChange(tx, 'destroy', details)
  await store.remove(tx.db, id)
  await removeFiles(tx, [archiveBlob])
}

function recordChange(tx: Ctx, action: string, { id, module }: VersionDetails): Promise<void> {
  const { organizationId } = module
  return audit.record(tx, {
    action,
    organizationId,
    resourceType: 'registry_module_version',
    resourceId: id,
  })
}

const TAKEN: Violation = { detail: 'Version has already been taken', pointer: '/data/attributes/version' }

function refuseTaken(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', [TAKEN])
}
