import type { Client } from '../api/client.ts'
import type { Observer } from '../observer.ts'
import type { Release } from '../release/release.ts'
import { ensureKey } from './key.ts'
import { ensureProvider } from './provider.ts'
import { type DocsStatus, uploadRelease } from './uploads.ts'
import { type Verification, verifyRelease } from './verify.ts'
import { ensureVersion } from './version.ts'

export interface PublishOptions {
  organization: string
  parallel: number
  /** Whether the archives are fetched again, to compare what clients will get. */
  downloads: boolean
}

export interface Publication {
  status: 'published' | 'already-published'
  /** As configurations name it: `host/namespace/name`. */
  source: string
  version: string
  keyId: string
  /** What was not there before. */
  created: { provider: boolean; key: boolean; version: boolean }
  /** Names of the files that were sent; those that an earlier attempt had sent are not among them. */
  uploaded: string[]
  /** What became of the documentation, and where people read it; undefined where there is none. */
  docs: { status: DocsStatus; url: string } | undefined
  verification: Verification
}

/**
 * Publishes a release, or what is missing of it. Nobody can install any of it before all of it is there, because the
 * signature comes last. Throws `CliError`; the same call again goes on where the last one ended.
 */
export async function publish(
  client: Client,
  release: Release,
  { organization, parallel, downloads }: PublishOptions,
  observe: Observer,
): Promise<Publication> {
  const address = { organization, name: release.name, version: release.version }
  // First, because a key that does not fit is a reason to touch nothing.
  const key = await ensureKey(client, release, organization, observe)
  const provider = await ensureProvider(client, address, observe)
  const version = await ensureVersion(client, release, provider.path, key.keyId, observe)
  const { files: uploaded, docs } = await uploadRelease(client, release, version, parallel, observe)
  const isNew = uploaded.length > 0
  observe({ type: 'step', text: 'verifying what clients will get' })
  const verification = await verifyRelease(client, release, {
    organization,
    parallel,
    downloads: downloads && isNew,
  })
  return {
    status: isNew ? 'published' : 'already-published',
    source: `${client.server.host}/${organization}/${release.name}`,
    version: release.version,
    keyId: key.keyId,
    created: { provider: provider.isNew, key: key.isNew, version: version.isNew },
    uploaded,
    docs: docs && { status: docs, url: docsAddress(client, address) },
    verification,
  }
}

function docsAddress(client: Client, address: Record<'organization' | 'name' | 'version', string>): string {
  const parts = [address.organization, address.name, address.version].map(encodeURIComponent)
  return new URL(`/registry/providers/${parts.join('/')}/docs`, client.server).href
}
