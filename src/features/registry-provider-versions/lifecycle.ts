import { authorize } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import type { ProviderAddress } from '../registry-providers/service.ts'
import { digestsOf, logRelease } from './log.ts'
import { getById, lockForChange, type VersionDetails } from './reading.ts'
import { allows, TRANSITIONS, type VersionEvent, type VersionStatus } from './status.ts'
import type { PlatformFile, RegistryProviderVersion, VersionOwner } from './store.ts'
import * as store from './store.ts'
import { pardon } from './tombstones.ts'

/** What a request says about a version; what is undefined stays as it is. */
export interface VersionChanges {
  /** Short for `revocation`, without a message. */
  status?: string | undefined
  deprecation?:
    | { status: 'Deprecated' | 'Undeprecated'; reason: string | null; link: string | null }
    | undefined
  revocation?: { status: 'Revoked' | 'Unrevoked'; message: string | null; link: string | null } | undefined
}

/** The columns of a version that has nothing yet. */
export const DRAFT = {
  shasumsBlob: null,
  signatureBlob: null,
  status: 'draft',
  publishedAt: null,
  deprecatedAt: null,
  deprecationReason: null,
  deprecationLink: null,
  revokedAt: null,
  revocationMessage: null,
  revocationLink: null,
} as const

type Columns = Parameters<typeof store.move>[3]

/** Something to do with a version, unless it is so already. */
interface Step {
  event: VersionEvent
  columns: (version: RegistryProviderVersion) => Partial<Columns>
  isDone: (version: RegistryProviderVersion) => boolean
}

/**
 * Deprecates or revokes a version, or takes that back. What is so already is not done again. Publishers may, but taking
 * a revocation back needs the right to manage the provider: a pipeline's token that leaked must not undo it.
 */
export function update(
  ctx: Ctx,
  address: ProviderAddress,
  number: string,
  changes: VersionChanges,
): Promise<VersionDetails> {
  return inTransaction(ctx, async (tx) => {
    const version = await lockForChange(tx, address, number)
    const steps = stepsTo(version, changes, tx.now())
    if (steps.some(({ event }) => event === 'restore')) {
      const { organizationId, id } = version.provider
      await authorize(tx, 'registry-providers:manage', organizationId, id)
    }
    let current = version
    for (const { event, columns, isDone } of steps) {
      if (isDone(current)) continue
      await advance(tx, current, event, columns(current))
      if (event === 'restore') await pardon(tx, current)
      current = await getById(tx, version.id)
      await logRelease(tx, current.provider, current, {
        action: event,
        digests: await digestsOf(tx, current, current.platforms),
        details: detailsOf(current),
      })
    }
    return current
  })
}

/** In the order in which they can follow one another. */
function stepsTo(
  { status: current }: RegistryProviderVersion,
  { status, deprecation, revocation }: VersionChanges,
  now: string,
): Step[] {
  const short = status !== current && status === 'revoked'
  if (status !== undefined && status !== current && !short) refuse([NOT_SET])
  const revoking = revocation ?? (short ? { status: 'Revoked', message: null, link: null } : undefined)
  return [
    ...(revoking?.status === 'Unrevoked' ? [restoring(now)] : []),
    ...(deprecation
      ? [deprecation.status === 'Deprecated' ? deprecating(deprecation, now) : UNDEPRECATING]
      : []),
    ...(revoking?.status === 'Revoked' ? [revokingFor(revoking, now)] : []),
  ]
}

const NOT_SET = {
  detail: 'Status can be set to revoked only; send "deprecation" or "revocation" for anything else',
  pointer: '/data/attributes/status',
}

const deprecating = (
  { reason, link }: { reason: string | null; link: string | null },
  now: string,
): Step => ({
  event: 'deprecate',
  columns: () => ({ deprecatedAt: now, deprecationReason: reason, deprecationLink: link }),
  isDone: ({ status, deprecationReason, deprecationLink }) =>
    status === 'deprecated' && deprecationReason === reason && deprecationLink === link,
})

const NO_DEPRECATION = { deprecatedAt: null, deprecationReason: null, deprecationLink: null }
const NO_REVOCATION = { revokedAt: null, revocationMessage: null, revocationLink: null }

const UNDEPRECATING: Step = {
  event: 'undeprecate',
  columns: () => NO_DEPRECATION,
  isDone: ({ status }) => status === 'published' || status === 'draft',
}

const revokingFor = (
  { message, link }: { message: string | null; link: string | null },
  now: string,
): Step => ({
  event: 'revoke',
  columns: () => ({ revokedAt: now, revocationMessage: message, revocationLink: link }),
  isDone: ({ status, revocationMessage, revocationLink }) =>
    status === 'revoked' && revocationMessage === message && revocationLink === link,
})

/** A version that was never deprecated is from now on, for what it was revoked for. */
const restoring = (now: string): Step => ({
  event: 'restore',
  columns: ({ deprecatedAt, revocationMessage, revocationLink }) => ({
    ...NO_REVOCATION,
    ...(deprecatedAt === null && {
      deprecatedAt: now,
      deprecationReason: revocationMessage,
      deprecationLink: revocationLink,
    }),
  }),
  isDone: ({ status }) => status !== 'revoked',
})

/** Publishes a draft if consumers can install it now, in the transaction of the upload that completes it. */
export async function publishIfComplete(tx: Ctx, id: string, owner: VersionOwner): Promise<void> {
  const version = await find(tx, id)
  const platforms = await store.listPlatforms(tx.db, [id])
  const isComplete =
    version.shasumsBlob && version.signatureBlob && platforms.some(({ binaryBlob }) => binaryBlob)
  if (version.status !== 'draft' || !isComplete) return
  await advance(tx, { ...version, provider: owner }, 'publish', { publishedAt: tx.now() })
  await logRelease(tx, owner, version, {
    action: 'publish',
    digests: await digestsOf(tx, version, platforms),
  })
}

/** Tells that a platform has its archive now, which may be what was missing. */
export async function noteArchive(
  tx: Ctx,
  platform: Pick<PlatformFile, 'versionId' | 'filename' | 'shasum'>,
) {
  const version = await find(tx, platform.versionId)
  const owner = await findOwner(tx, version.id)
  if (version.status === 'draft') return publishIfComplete(tx, version.id, owner)
  const digests = { [platform.filename]: platform.shasum }
  return logRelease(tx, owner, version, { action: 'publish', digests })
}

/** Refuses (409) to add to a version that was revoked. */
export function refuseRevoked({
  status,
  version,
}: Pick<RegistryProviderVersion, 'status' | 'version'>): void {
  if (status !== 'revoked') return
  throw new AppError(
    'conflict',
    `Version ${version} is revoked: nothing can be added to it. Restore it first.`,
  )
}

/** The one place that changes the status of a version: it compares what it replaces. */
async function advance(
  tx: Ctx,
  { id, version, status, provider }: RegistryProviderVersion & { provider: { organizationId: string } },
  event: VersionEvent,
  columns: Partial<Columns>,
): Promise<void> {
  const { to } = TRANSITIONS[event]
  const changes = { ...columns, status: to, updatedAt: tx.now() }
  const moved = allows(event, status) && (await store.move(tx.db, id, status, changes))
  if (!moved) throw new AppError('conflict', `Version ${version} ${WHY_NOT[status]}`)
  await audit.record(tx, {
    action: event,
    organizationId: provider.organizationId,
    resourceType: 'registry_provider_version',
    resourceId: id,
  })
}

const WHY_NOT: Record<VersionStatus, string> = {
  draft: 'is a draft, which nobody can install. Delete it if it is not wanted.',
  published: 'is published; this cannot be done with it now.',
  deprecated: 'is deprecated; this cannot be done with it now.',
  revoked: 'is revoked. Restore it first, by a revocation with the status Unrevoked.',
}

function detailsOf(version: RegistryProviderVersion): Record<string, string> | undefined {
  const [text, link] =
    version.status === 'revoked'
      ? [version.revocationMessage, version.revocationLink]
      : [version.deprecationReason, version.deprecationLink]
  return { ...(text && { reason: text }), ...(link && { link }) }
}

async function find(tx: Ctx, id: string): Promise<RegistryProviderVersion> {
  const version = await store.find(tx.db, id)
  if (!version) throw notFound()
  return version
}

async function findOwner(tx: Ctx, id: string): Promise<VersionOwner> {
  const owner = await store.findProvider(tx.db, id)
  if (!owner) throw notFound()
  return owner
}
