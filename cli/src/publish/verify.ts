import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { verifySignature } from '../../../src/lib/openpgp.ts'
import type { Client } from '../api/client.ts'
import { Transient, withRetries } from '../api/retries.ts'
import { CliError } from '../errors.ts'
import { inParallel } from '../parallel.ts'
import type { Archive, Release } from '../release/release.ts'

/** What was seen through the addresses that clients use. */
export interface Verification {
  platforms: string[]
  /** Whether the archives were fetched, or only what is said of them. */
  downloads: boolean
  /** What clients show to people who install the provider. */
  warnings: string[]
}

interface VerifyOptions {
  organization: string
  parallel: number
  downloads: boolean
}

interface Versions {
  versions?: { version: string }[]
  warnings?: string[] | null
}

interface Package {
  filename: string
  shasum: string
  download_url: string
  shasums_url: string
  shasums_signature_url: string
  signing_keys?: { gpg_public_keys?: { ascii_armor: string }[] }
}

/** Reads the release as `terraform init` does, and throws `CliError` unless it is what was published. */
export async function verifyRelease(
  client: Client,
  release: Release,
  { organization, parallel, downloads }: VerifyOptions,
): Promise<Verification> {
  const { name, version, archives } = release
  const provider = new URL(`${organization}/${name}/`, await discover(client))
  // Some servers take a moment before they show what is complete.
  const { warnings } = await withRetries(client.retries, async () => {
    const { body } = await client.plain(new URL('versions', provider))
    const listed = body as Versions
    if (!listed.versions?.some((each) => each.version === version)) {
      throw new Transient(`${name} ${version} is complete, but the registry does not list it`)
    }
    return listed
  })
  await inParallel(archives, parallel, client.retries.signal, (archive) =>
    verifyPackage(client, release, archive, new URL(`${version}/download/`, provider), downloads),
  )
  const platforms = archives.map(({ os, arch }) => `${os}_${arch}`)
  return { platforms, downloads, warnings: warnings ?? [] }
}

async function discover(client: Client): Promise<URL> {
  const { url, body } = await client.plain('/.well-known/terraform.json')
  const address = (body as Record<string, unknown>)['providers.v1']
  if (typeof address === 'string') return new URL(address, url)
  throw new CliError('unexpected', `${client.server.host} does not say where its providers are`, {
    advice: 'Its /.well-known/terraform.json has no providers.v1.',
  })
}

async function verifyPackage(
  client: Client,
  { shasums }: Release,
  { os, arch, filename, sha256 }: Archive,
  base: URL,
  downloads: boolean,
): Promise<void> {
  const { url, body } = await client.plain(new URL(`${os}/${arch}`, base))
  const found = body as Package
  const fail = (problem: string) => {
    throw new CliError(
      'unexpected',
      `what clients get of ${os}_${arch} is not what was published: ${problem}`,
    )
  }
  if (found.filename !== filename) fail(`its file is ${found.filename}`)
  if (found.shasum.toLowerCase() !== sha256) fail(`its SHA-256 is ${found.shasum}`)
  const list = await client.bytes(new URL(found.shasums_url, url))
  if (!list.equals(shasums.bytes)) fail('its list of digests is another one')
  const signature = await client.bytes(new URL(found.shasums_signature_url, url))
  const keys = found.signing_keys?.gpg_public_keys ?? []
  if (!(await isSigned(list, signature, keys))) fail('no key that it names made its signature')
  if (!downloads) return
  const digest = await client.file(new URL(found.download_url, url), digestOf)
  if (digest !== sha256) fail(`its archive has SHA-256 ${digest}`)
}

async function isSigned(list: Buffer, signature: Buffer, keys: { ascii_armor: string }[]): Promise<boolean> {
  for (const { ascii_armor: armor } of keys) {
    // Whatever is wrong with one of them, it is not what was published.
    const isGood = await verifySignature(list, signature, armor).then(
      () => true,
      () => false,
    )
    if (isGood) return true
  }
  return false
}

async function digestOf({ body }: Response): Promise<string> {
  const hash = createHash('sha256')
  if (body) await pipeline(Readable.fromWeb(body), hash)
  return hash.digest('hex')
}
