import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { Flights } from '../../lib/flights.ts'
import { newId } from '../../lib/ids.ts'
import { OutsideError } from '../../lib/outside.ts'
import { type Address, isListed, spell } from './addresses.ts'
import type { OrganizationMirror } from './service.ts'
import * as store from './store.ts'

/** Several servers may run in one process, as in the tests. */
const flights = new WeakMap<object, Flights>()

/** What this server is fetching. */
function flightsOf({ upstreams }: Ctx): Flights {
  const known = flights.get(upstreams) ?? new Flights()
  flights.set(upstreams, known)
  return known
}

/** Something that is fetched for an organization. */
interface Fetched {
  what: 'versions' | 'release' | 'archive'
  organizationId: string
  address: Address
  /** Of which version, and platform. */
  part?: string
}

/**
 * Has something fetched, once for all who want it at the same moment, and given up when the last of them leaves. What
 * goes wrong is noted with the provider. Throws what `work` does.
 */
export async function attempt(
  ctx: Ctx,
  fetched: Fetched,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { what, organizationId, address, part = '' } = fetched
  const key = `${what} ${organizationId} ${spell(address)} ${part}`
  await flightsOf(ctx).join(key, signal, async (ending) => {
    try {
      await work(ending)
      ctx.metrics.mirrorAsked(what, 'fetched')
    } catch (error) {
      if (!ending.aborted) await noteProblem(ctx, fetched, error)
      throw error
    }
  })
}

async function noteProblem(ctx: Ctx, { what, organizationId, address, part }: Fetched, error: unknown) {
  const isRefused = error instanceof OutsideError && error.failure === 'refused'
  ctx.metrics.mirrorAsked(what, isRefused ? 'refused' : 'failed')
  if (!(error instanceof OutsideError || error instanceof AppError)) return
  // Of names that somebody made up, nothing is kept.
  const isMadeUp = error instanceof OutsideError && error.failure === 'missing'
  const lastError = `${part ? `${part}: ` : ''}${error.message}`
  await inTransaction(ctx, async (tx) => {
    if (!isMadeUp) await ensureProvider(tx, organizationId, address)
    const provider = await store.findProvider(tx.db, organizationId, address)
    const askedAt = what === 'versions' && { askedAt: tx.now() }
    if (provider)
      await store.updateProvider(tx.db, provider.id, { lastError, lastErrorAt: tx.now(), ...askedAt })
  }).catch((err: unknown) => ctx.log.warn({ err }, 'what went wrong with a mirrored provider was not noted'))
}

export function ensureProvider(tx: Ctx, organizationId: string, address: Address): Promise<void> {
  const { hostname, namespace, name } = address
  return store.ensureProvider(tx.db, {
    hostname,
    namespace,
    name,
    organizationId,
    id: newId('mprov'),
    listing: null,
    listedAt: null,
    askedAt: null,
    keyFingerprints: '[]',
    lastError: null,
    lastErrorAt: null,
    createdAt: tx.now(),
  })
}

/** How a request fails that needs what could not be had. */
export function failureOf(error: unknown, address: Address): unknown {
  if (!(error instanceof OutsideError)) return error
  const name = spell(address)
  const options = { cause: error }
  switch (error.failure) {
    case 'missing':
      return new AppError(
        'notFound',
        `The upstream does not have this of ${name}: ${error.message}.`,
        options,
      )
    case 'away':
      return new AppError('unavailable', `The upstream of ${name} is away: ${error.message}.`, options)
    case 'refused':
      return new AppError(
        'badGateway',
        `What the upstream says of ${name} is refused: ${error.message}.`,
        options,
      )
  }
}

/** Ends a request (404) for what is not on the organization's list, and says so. */
export function requireListed({ allowedProviders, organization }: Listing, address: Address): void {
  if (isListed(allowedProviders, address)) return
  throw new AppError(
    'notFound',
    `${spell(address)} is not among the allowed providers of organization ${organization.name}. Whoever manages its ` +
      `registry can add it: PATCH /api/v2/organizations/${organization.name}/provider-mirror`,
  )
}

type Listing = Pick<OrganizationMirror, 'allowedProviders' | 'organization'>
