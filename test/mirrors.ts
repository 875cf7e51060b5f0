import type { ServerResponse } from 'node:http'
import { inTransaction } from '../src/db/transaction.ts'
import * as store from '../src/features/provider-mirror/store.ts'
import { addSeconds } from '../src/lib/time.ts'
import { expectStatus, type TestOrganization, type TestServer } from './harness.ts'
import { asSecondServer } from './jobs.ts'
import { makeKey, type SigningKey } from './registry.ts'
import { document } from './resources.ts'
import { UpstreamRegistry } from './upstream.ts'

// Mirrors of a registry that does what a test wants.

export const HOST = 'registry.example.test'

/** At a private address, which nobody named. */
export const PRIVATE = 'localhost:1'

export const registry = new UpstreamRegistry()
await registry.start()

/** What the registry's versions are signed with, if the test does not say otherwise. */
export const key = await makeKey()

/** How a server asks the registry. */
export const MIRROR = { PLINTH_MIRROR_UPSTREAMS: `${HOST}=${registry.url}` }

export const settingsOf = ({ path }: TestOrganization) => `${path}/provider-mirror`

/** An organization that mirrors what the registry has. */
export async function mirrored(server: TestServer) {
  const organization = await server.organization()
  const body = document('provider-mirrors', { 'allowed-providers': [`${HOST}/acme/*`, `${PRIVATE}/acme/*`] })
  expectStatus(await organization.owner.patch(settingsOf(organization), body), 200)
  return organization
}

export const at = ({ name }: TestOrganization, provider: string, document: string) =>
  `/mirror/${name}/${HOST}/acme/${provider}/${document}`

/** Asks for a version; what failed, or the addresses of its archives. */
export async function ask({ owner, ...organization }: TestOrganization, provider: string, version = '1.0.0') {
  const { status, body } = await owner.get(at({ owner, ...organization }, provider, `${version}.json`))
  const detail: string | undefined = body.errors?.[0].detail
  return { status, detail, archives: body.archives as Record<string, { url: string; hashes: string[] }> }
}

/** How much is kept of each provider, and whose keys are trusted for it. */
export async function keptOf({ owner, ...organization }: TestOrganization) {
  const { data } = (await owner.get(`${settingsOf({ owner, ...organization })}/providers`)).body
  return data.map(({ attributes }: { attributes: Record<string, unknown> }) => [
    attributes['kept-packages'],
    attributes['key-fingerprints'],
  ])
}

export const lastError = async (organization: TestOrganization) =>
  (await organization.owner.get(`${settingsOf(organization)}/providers`)).body.data[0].attributes[
    'last-error'
  ]

/** Has the test answer where a path begins so. */
export function instead(start: string, send: (response: ServerResponse) => void): void {
  registry.instead = (path, response) => {
    if (!path.startsWith(start)) return false
    send(response)
    return true
  }
}

/** As if the upstream was asked a day ago. */
export async function forget(server: TestServer, organization: TestOrganization): Promise<void> {
  const [{ id }] = (await organization.owner.get(`${settingsOf(organization)}/providers`)).body.data
  await asSecondServer(server, (ctx) =>
    inTransaction(ctx, async (tx) => {
      const before = addSeconds(tx.now(), -24 * 3600)
      await store.updateProvider(tx.db, id, { listedAt: before, askedAt: before })
    }),
  )
}

export const fingerprintOf = ({ pair }: SigningKey) => pair.publicKey.getFingerprint().toUpperCase()
