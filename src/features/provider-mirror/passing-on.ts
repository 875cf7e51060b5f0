import type { Ctx } from '../../context.ts'
import { type Address, hostsOf, isListed } from './addresses.ts'
import { failureOf } from './attempts.ts'
import type { OrganizationMirror } from './service.ts'
import * as upstream from './upstream.ts'

/** Whether a run may install a provider that is not listed, of a host some of whose providers are. */
export function isPassedOn(
  { allowedProviders, unlistedInRuns }: OrganizationMirror,
  address: Address,
): boolean {
  const isKnownHost = hostsOf(allowedProviders).includes(address.hostname)
  return unlistedInRuns === 'direct' && isKnownHost && !isListed(allowedProviders, address)
}

/** Where the upstream has what the rest of a path names. */
export async function upstreamAddress(
  ctx: Ctx,
  address: Address,
  rest: string,
  signal: AbortSignal,
): Promise<string> {
  const { hostname, namespace, name } = address
  const base = await upstream.locate(ctx, hostname, signal).catch((error: unknown) => {
    throw failureOf(error, address)
  })
  return new URL(`${namespace}/${name}/${rest}`, base).href
}
