import parse from 'semver/functions/parse.js'
import { authorizeSiteAdmin } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { EngineVersion } from '../../engine/channel.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { TerraformVersion, TerraformVersionFilter } from './store.ts'
import * as store from './store.ts'

export type { TerraformVersion, TerraformVersionFilter } from './store.ts'

/** An archive of a version for one platform. */
export interface Architecture {
  url: string
  /** SHA-256 of the archive, hexadecimal. */
  sha: string
  os: string
  arch: string
}

/** What a request says about a version; what is undefined stays as it is. */
export interface TerraformVersionAttributes {
  version?: string | undefined
  /** Of the archive for Linux on amd64, as clients said before there were others. */
  url?: string | null | undefined
  sha?: string | null | undefined
  archs?: readonly Architecture[] | null | undefined
  official?: boolean | null | undefined
  enabled?: boolean | null | undefined
  beta?: boolean | null | undefined
  deprecated?: boolean | null | undefined
  deprecatedReason?: string | null | undefined
}

export function archsOf({ archs }: Pick<TerraformVersion, 'archs'>): Architecture[] {
  return JSON.parse(archs)
}

/** The archive of those that `url` and `sha` speak of. */
export function amd64Of(archs: readonly Architecture[]): Architecture | undefined {
  return archs.find(({ os, arch }) => os === 'linux' && arch === 'amd64')
}

export function list(ctx: Ctx, filter: TerraformVersionFilter, page: PageRequest) {
  authorizeSiteAdmin(ctx)
  return store.list(ctx.db, filter, page)
}

export async function get(ctx: Ctx, id: string): Promise<TerraformVersion> {
  authorizeSiteAdmin(ctx)
  return reread(ctx, id)
}

async function reread(ctx: Ctx, id: string): Promise<TerraformVersion> {
  const version = await store.find(ctx.db, id)
  if (!version) throw notFound()
  return version
}

/** What workers must know: the versions that runs may not use, must name, or get from a place of their own. */
export async function listSpecial(ctx: Ctx): Promise<EngineVersion[]> {
  const versions = await store.listSpecial(ctx.db)
  return versions.map(({ version, enabled, beta, archs }) => ({
    version,
    enabled,
    beta,
    archives: archsOf({ archs }).map(({ os, arch, url, sha }) => ({ platform: `${os}_${arch}`, url, sha })),
  }))
}

const DEFAULTS = { official: false, enabled: true, beta: false, deprecated: false, deprecatedReason: null }

/** Adds the versions that a server has found on its machine, unless they are known. */
export function addFound(
  ctx: Pick<Ctx, 'db' | 'connection' | 'now'>,
  versions: readonly string[],
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    if (versions.length === 0) return
    const common = { ...DEFAULTS, archs: '[]', createdAt: tx.now() }
    const rows = versions.map((version) => ({ ...common, id: newId('tool'), version, rank: rankOf(version) }))
    await store.insertMissing(tx.db, rows)
  })
}

export function create(
  ctx: Ctx,
  attributes: TerraformVersionAttributes & { version: string },
): Promise<TerraformVersion> {
  return inTransaction(ctx, async (tx) => {
    authorizeSiteAdmin(tx)
    const id = newId('tool')
    const { version } = attributes
    const columns = { ...DEFAULTS, archs: '[]', ...columnsOf(attributes, []), version, rank: rankOf(version) }
    await store.insert(tx.db, { ...columns, id, createdAt: tx.now() }).catch(refuseTakenVersion)
    await recordChange(tx, 'create', id, version)
    return reread(tx, id)
  })
}

export function update(
  ctx: Ctx,
  id: string,
  attributes: TerraformVersionAttributes,
): Promise<TerraformVersion> {
  return inTransaction(ctx, async (tx) => {
    const before = await get(tx, id)
    const columns = columnsOf(attributes, archsOf(before))
    if (Object.keys(columns).length > 0) await store.update(tx.db, id, columns).catch(refuseTakenVersion)
    const after = await reread(tx, id)
    await recordChange(tx, 'update', id, after.version)
    return after
  })
}

/** Removes a version that no workspace asks for; official ones stay, and can be disabled. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { official, usage, version } = await get(tx, id)
    if (official) throw new AppError('unprocessable', 'An official version cannot be removed, only disabled.')
    if (usage > 0) throw new AppError('unprocessable', `${usage} workspaces use this version.`)
    await store.remove(tx.db, id)
    await recordChange(tx, 'destroy', id, version)
  })
}

function columnsOf(attributes: TerraformVersionAttributes, before: readonly Architecture[]) {
  const { version, url, sha, archs, ...switches } = attributes
  const known = Object.entries(switches).filter(([, value]) => value !== undefined && value !== null)
  const changed = archs ?? fromAmd64(url ?? undefined, sha ?? undefined, before)
  return {
    ...(Object.fromEntries(known) as Partial<typeof DEFAULTS>),
    ...(version !== undefined && { version, rank: rankOf(version) }),
    ...(changed && { archs: JSON.stringify(changed) }),
  }
}

/** What `url` and `sha`, one of which may stay as it is, make of the archives; undefined when neither is said. */
function fromAmd64(
  url: string | undefined,
  sha: string | undefined,
  before: readonly Architecture[],
): Architecture[] | undefined {
  if (url === undefined && sha === undefined) return undefined
  const archive = { ...amd64Of(before), ...(url !== undefined && { url }), ...(sha !== undefined && { sha }) }
  const missing: Violation[] = []
  if (archive.url === undefined)
    missing.push({ detail: "Url can't be blank", pointer: '/data/attributes/url' })
  if (archive.sha === undefined)
    missing.push({ detail: "Sha can't be blank", pointer: '/data/attributes/sha' })
  refuse(missing)
  return [{ url: archive.url as string, sha: archive.sha as string, os: 'linux', arch: 'amd64' }]
}

/** Releases come after what was tried before them; text is only ever compared as digits, whatever the language. */
function rankOf(version: string): string {
  const parsed = parse(version)
  if (!parsed || parsed.version !== version)
    throw new AppError('invalid', 'Version is invalid: a version such as 1.14.1', {
      pointer: '/data/attributes/version',
    })
  const numbers = [parsed.major, parsed.minor, parsed.patch].map((number) => String(number).padStart(16, '0'))
  return numbers.join('') + (parsed.prerelease.length > 0 ? '0' : '1')
}

function recordChange(tx: Ctx, action: string, id: string, version: string): Promise<void> {
  const resource = { resourceType: 'terraform_version', resourceId: id, meta: { version } }
  return audit.record(tx, { ...resource, action, organizationId: null })
}

function refuseTakenVersion(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Version has already been taken', {
    pointer: '/data/attributes/version',
    cause: error,
  })
}
