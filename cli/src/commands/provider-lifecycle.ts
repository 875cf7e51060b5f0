import type { Resource } from '../api/client.ts'
import { CliError } from '../errors.ts'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { providerPath } from '../publish/provider.ts'
import { openSession, type SessionOptions } from './session.ts'

export interface LifecycleOptions extends SessionOptions {
  reason?: string
  link?: string
}

/** A version after its status changed. */
export interface LifecycleResult {
  name: string
  version: string
  status: string
}

type Change = (current: Resource, said: { reason: string | null; link: string | null }) => object

const CHANGES = {
  deprecate: (_current, { reason, link }) => ({
    deprecation: { 'deprecated-status': 'Deprecated', reason, link },
  }),
  revoke: (_current, { reason, link }) => ({ revocation: { status: 'Revoked', message: reason, link } }),
  // One step at a time: what was revoked may still be a reason not to use it.
  restore: ({ attributes }) =>
    attributes['status'] === 'revoked'
      ? { revocation: { status: 'Unrevoked' } }
      : { deprecation: { 'deprecated-status': 'Undeprecated' } },
} satisfies Record<string, Change>

export type LifecycleAction = keyof typeof CHANGES

/** Deprecates or revokes a version of a provider, or takes that back. */
export async function changeLifecycle(
  action: LifecycleAction,
  { name, version }: { name: string; version: string },
  options: LifecycleOptions,
  io: Io,
  observe: Observer,
): Promise<LifecycleResult> {
  const { client, organization } = await openSession(options, io, observe)
  const path = `${providerPath({ organization, name })}/versions/${encodeURIComponent(version)}`
  const current = await client.get(path)
  if (typeof current.attributes['status'] !== 'string') {
    throw new CliError('usage', `${client.server.host} knows no deprecation of providers`, {
      advice: 'Plinth does.',
    })
  }
  const change = CHANGES[action](current, { reason: options.reason ?? null, link: options.link ?? null })
  const { attributes } = await client.patch(path, 'registry-provider-versions', change)
  return { name, version, status: String(attributes['status']) }
}
