import type { Ctx } from '../../context.ts'
import { type Asking, type Outside, OutsideError, open, read } from '../../lib/outside.ts'
import { addSeconds } from '../../lib/time.ts'
import { type Address, isVersion } from './addresses.ts'

// The registry protocol, as clients speak it with other registries. What comes back is believed in nothing: its form
// is checked here, and what it says of files by their signature.

/** A version, as the upstream lists it. */
export interface ListedVersion {
  version: string
  protocols: string[]
  platforms: Platform[]
}

export interface Platform {
  os: string
  arch: string
}

/** All versions, and what the upstream wants people to know. */
export interface Listing {
  versions: ListedVersion[]
  warnings: string[]
}

/** What an upstream says of one platform of a version. */
export interface Offer {
  protocols: string[]
  filename: string
  shasum: string
  archiveUrl: URL
  shasumsUrl: URL
  signatureUrl: URL
  keys: { asciiArmor: string; trustSignature: string }[]
}

/** The largest providers have a thousand versions of fifteen platforms. */
const MAX_LISTING_BYTES = 16 * 2 ** 20
const MAX_DOCUMENT_BYTES = 2 ** 20

/** How long it is believed where a host has its services. */
const DISCOVERY_SECONDS = 600

const TARGET = /^[a-z0-9]{1,32}$/
const FILENAME = /^[A-Za-z0-9_+-][A-Za-z0-9._+-]{0,254}$/
const PROTOCOL = /^\d{1,3}\.\d{1,3}$/

/** Where the upstream of a host speaks the registry protocol, with a slash at the end. */
export async function locate(ctx: Ctx, hostname: string, signal: AbortSignal): Promise<string> {
  const known = ctx.upstreams.addressOf(hostname, ctx.now())
  if (known) return known
  const address = `https://${hostname}/.well-known/terraform.json`
  const { url, document } = await readJson(address, MAX_DOCUMENT_BYTES, asking(ctx, signal))
  const service = document['providers.v1']
  const found = typeof service === 'string' ? URL.parse(service, url.href) : null
  if (!found) throw new OutsideError('refused', `${hostname} has no registry of providers`)
  if (!found.pathname.endsWith('/')) found.pathname += '/'
  ctx.upstreams.discovered(hostname, found.href, addSeconds(ctx.now(), DISCOVERY_SECONDS))
  return found.href
}

export async function listVersions(ctx: Ctx, address: Address, signal: AbortSignal): Promise<Listing> {
  const { document } = await ask(ctx, address, 'versions', MAX_LISTING_BYTES, signal)
  const versions = objectsIn(document['versions']).flatMap((item): ListedVersion[] => {
    const version = String(item['version'])
    // One that clients cannot read would keep them from all others.
    if (!isVersion(version)) return []
    const platforms = objectsIn(item['platforms']).flatMap(({ os, arch }): Platform[] =>
      TARGET.test(String(os)) && TARGET.test(String(arch)) ? [{ os: String(os), arch: String(arch) }] : [],
    )
    return [{ version, protocols: protocolsIn(item['protocols']), platforms }]
  })
  return { versions, warnings: textsIn(document['warnings']).slice(0, 20) }
}

/** What the upstream offers for a platform of a version. */
export async function getOffer(
  ctx: Ctx,
  address: Address,
  version: string,
  { os, arch }: Platform,
  signal: AbortSignal,
): Promise<Offer> {
  if (!TARGET.test(os) || !TARGET.test(arch)) throw new OutsideError('missing', 'there is no such platform')
  const path = `${version}/download/${os}/${arch}`
  const { url, document } = await ask(ctx, address, path, MAX_DOCUMENT_BYTES, signal)
  const linked = (name: string) => {
    const found = URL.parse(String(document[name] ?? ''), url.href)
    if (!document[name] || !found) throw malformed(url, name)
    return found
  }
  const shasum = String(document['shasum']).toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(shasum)) throw malformed(url, 'shasum')
  const filename = String(document['filename'])
  if (!FILENAME.test(filename)) throw malformed(url, 'filename')
  const [keys] = objectsIn([document['signing_keys']])
  return {
    protocols: protocolsIn(document['protocols']),
    filename,
    shasum,
    archiveUrl: linked('download_url'),
    shasumsUrl: linked('shasums_url'),
    signatureUrl: linked('shasums_signature_url'),
    keys: objectsIn(keys?.['gpg_public_keys']).flatMap((key) =>
      typeof key['ascii_armor'] === 'string'
        ? [{ asciiArmor: key['ascii_armor'], trustSignature: String(key['trust_signature'] ?? '') }]
        : [],
    ),
  }
}

/** A small file that an offer names. */
export async function readFile(ctx: Ctx, url: URL, signal: AbortSignal): Promise<Buffer> {
  return (await read(url, MAX_DOCUMENT_BYTES, asking(ctx, signal))).bytes
}

export function openArchive(ctx: Ctx, url: URL, signal: AbortSignal): Promise<Outside> {
  return open(url, asking(ctx, signal))
}

async function ask(
  ctx: Ctx,
  { hostname, namespace, name }: Address,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
) {
  const base = new URL(await locate(ctx, hostname, signal))
  const value = ctx.upstreams.tokenOf(hostname)
  const token = value === undefined ? undefined : { origin: base.origin, value }
  return readJson(new URL(`${namespace}/${name}/${path}`, base), maxBytes, { ...asking(ctx, signal), token })
}

function asking(ctx: Ctx, signal: AbortSignal): Asking {
  const { isTrusted } = ctx.upstreams
  return { signal, isTrusted, silenceMs: ctx.config.mirror.timeout * 1000 }
}

type Fields = Record<string, unknown>

async function readJson(address: string | URL, maxBytes: number, how: Asking) {
  const { url, bytes } = await read(address, maxBytes, how)
  const [document] = objectsIn([parsed(bytes)])
  if (!document) throw new OutsideError('refused', `${url.origin}${url.pathname} is not a JSON document`)
  return { url, document }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

function malformed(url: URL, name: string): OutsideError {
  return new OutsideError('refused', `${url.origin}${url.pathname} has no ${name} that can be used`)
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function protocolsIn(value: unknown): string[] {
  return textsIn(value).filter((text) => PROTOCOL.test(text))
}
