import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { OutsideError } from '../../lib/outside.ts'
import { addSeconds } from '../../lib/time.ts'
import { type Address, spell } from './addresses.ts'
import { attempt, ensureProvider, failureOf, requireListed } from './attempts.ts'
import type { OrganizationMirror } from './service.ts'
import type { MirroredProvider } from './store.ts'
import * as store from './store.ts'
import type { Listing } from './upstream.ts'
import * as upstream from './upstream.ts'

/** For so long a list of versions is not asked for again. */
const FRESH_SECONDS = 300

/** The same after the upstream did not answer: clients wait ten seconds, and it costs nearly all of them. */
const RETRY_SECONDS = 30

/** The versions of a provider on the list: what the upstream tells, or told last when it cannot be asked. */
export async function getListing(
  ctx: Ctx,
  mirror: OrganizationMirror,
  address: Address,
  signal: AbortSignal,
): Promise<Listing> {
  requireListed(mirror, address)
  const { id: organizationId } = mirror.organization
  const known = await store.findProvider(ctx.db, organizationId, address)
  if (known?.listing && !isDue(known, ctx.now())) {
    ctx.metrics.mirrorAsked('versions', isStale(known) ? 'stale' : 'kept')
    return listingOf(ctx, known)
  }
  try {
    await attempt(ctx, { what: 'versions', organizationId, address }, signal, (ending) =>
      refresh(ctx, organizationId, address, ending),
    )
  } catch (error) {
    if (!known?.listing || !(error instanceof OutsideError)) throw failureOf(error, address)
    ctx.metrics.mirrorAsked('versions', 'stale')
    // An upstream that is away comes back; one that says what cannot be needs somebody.
    const level = error.failure === 'refused' ? 'error' : 'warn'
    ctx.log[level]({ err: error }, `the last known versions of ${spell(address)} are served`)
  }
  return listingOf(ctx, await store.findProvider(ctx.db, organizationId, address))
}

async function refresh(
  ctx: Ctx,
  organizationId: string,
  address: Address,
  signal: AbortSignal,
): Promise<void> {
  // Whoever looked a moment before somebody else had asked comes here after that.
  const known = await store.findProvider(ctx.db, organizationId, address)
  if (known?.listing && !isDue(known, ctx.now())) return
  const listing = await upstream.listVersions(ctx, address, signal)
  if (listing.versions.length === 0) throw new OutsideError('missing', 'it lists no version')
  await inTransaction(ctx, async (tx) => {
    await ensureProvider(tx, organizationId, address)
    const provider = await store.findProvider(tx.db, organizationId, address)
    const now = tx.now()
    const changes = { listing: JSON.stringify(listing), listedAt: now, askedAt: now }
    if (provider) await store.updateProvider(tx.db, provider.id, changes)
  })
}

function isDue(provider: MirroredProvider, now: string): boolean {
  const { askedAt } = provider
  return askedAt === null || now >= addSeconds(askedAt, isStale(provider) ? RETRY_SECONDS : FRESH_SECONDS)
}

/** Whether the upstream did not answer when it was asked last. */
function isStale({ askedAt, listedAt }: MirroredProvider): boolean {
  return askedAt !== listedAt
}

/** What the upstream told last, and what is kept of versions that it has withdrawn: lock files may name them. */
async function listingOf(ctx: Ctx, provider: MirroredProvider | undefined): Promise<Listing> {
  if (!provider?.listing) return { versions: [], warnings: [] }
  const { versions, warnings }: Listing = JSON.parse(provider.listing)
  const told = new Set(versions.map(({ version }) => version))
  const kept = Map.groupBy(await store.listKeptOf(ctx.db, provider.id), ({ version }) => version)
  for (const [version, platforms] of kept) {
    if (told.has(version)) continue
    const protocols = JSON.parse(platforms[0]?.protocols ?? '[]')
    versions.push({ version, protocols, platforms: platforms.map(({ os, arch }) => ({ os, arch })) })
  }
  if (isStale(provider)) {
    warnings.push(
      `The mirror cannot ask ${provider.hostname} now; these are the versions of ${provider.listedAt}.`,
    )
  }
  return { versions, warnings }
}
