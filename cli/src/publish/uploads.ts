import { ApiError, type Client, type Resource } from '../api/client.ts'
import { type Upload, upload } from '../api/upload.ts'
import { CliError } from '../errors.ts'
import type { Observer } from '../observer.ts'
import { inParallel } from '../parallel.ts'
import type { Archive, PackedDocs, Release } from '../release/release.ts'
import { conflict, type Version } from './version.ts'

/** One file that may have to be sent: the resource it belongs to, and what that calls it. */
interface Target {
  path: string
  resource: Resource
  isThere: (resource: Resource) => boolean
  link: string
  file: Upload
}

const SHASUMS = { isThere: flagged('shasums-uploaded'), link: 'shasums-upload' }
const SIGNATURE = { isThere: flagged('shasums-sig-uploaded'), link: 'shasums-sig-upload' }
const BINARY = { isThere: flagged('provider-binary-uploaded'), link: 'provider-binary-upload' }
const DOCS_LINK = 'docs-upload'

function flagged(flag: string) {
  return ({ attributes }: Resource) => attributes[flag] === true
}

/** What became of documentation: a server that is not ours may take none. */
export type DocsStatus = 'sent' | 'unchanged' | 'not-taken'

export interface Uploads {
  /** Names of the files that were sent, without the documentation. */
  files: string[]
  /** Undefined where there is no documentation. */
  docs: DocsStatus | undefined
}

/** Sends what the registry does not have. */
export async function uploadRelease(
  client: Client,
  release: Release,
  { path, resource }: Version,
  parallel: number,
  observe: Observer,
): Promise<Uploads> {
  const list = { ...SHASUMS, path, resource, file: inMemory(release.shasums) }
  const signature = { ...SIGNATURE, path, resource, file: inMemory(release.signature) }
  const sent = [await send(client, list, observe)]
  const platforms = await client.list(`${path}/platforms`)
  const archives = await inParallel(
    release.archives,
    parallel,
    client.retries.signal,
    async (archive, signal) => {
      const platform = await ensurePlatform(client, release, path, archive, platforms)
      const { filename, size } = archive
      const file = { filename, size, content: { path: archive.path } }
      const target = { ...BINARY, path: platformPath(path, archive), resource: platform, file }
      return send(client, target, observe, signal)
    },
  )
  // Before the signature, so that it is there as soon as anybody can install the release.
  const docs = release.docs && (await sendDocs(client, release.docs, { path, resource }, observe))
  sent.push(...archives, await send(client, signature, observe))
  return { files: sent.filter((filename) => filename !== undefined), docs }
}

/** Sends documentation unless the registry has the same; what it has can be replaced at any time. */
async function sendDocs(
  client: Client,
  { bytes, sha256, pages }: PackedDocs,
  { path, resource }: Pick<Version, 'path' | 'resource'>,
  observe: Observer,
): Promise<DocsStatus> {
  const isThere = ({ attributes }: Resource) => attributes['docs-shasum'] === sha256
  if (isThere(resource)) return 'unchanged'
  if (!resource.links?.[DOCS_LINK]) {
    const text = `the server gives no link to send documentation to: ${pages.length} pages are not sent`
    observe({ type: 'step', text })
    return 'not-taken'
  }
  const file = inMemory({ filename: 'docs.tar.gz', bytes })
  await send(client, { path, resource, isThere, link: DOCS_LINK, file }, observe)
  return 'sent'
}

function inMemory({ filename, bytes }: { filename: string; bytes: Buffer }): Upload {
  return { filename, size: bytes.length, content: { bytes } }
}

function platformPath(version: string, { os, arch }: Archive): string {
  return `${version}/platforms/${os}/${arch}`
}

async function ensurePlatform(
  client: Client,
  release: Release,
  version: string,
  archive: Archive,
  platforms: readonly Resource[],
): Promise<Resource> {
  const { os, arch, filename, sha256: shasum } = archive
  const same = ({ attributes }: Resource) => attributes['os'] === os && attributes['arch'] === arch
  const existing = platforms.find(same)
  if (existing) return requireSame(release, archive, existing)
  try {
    // As the public documentation spells the type.
    return await client.post(`${version}/platforms`, 'registry-provider-version-platforms', {
      os,
      arch,
      shasum,
      filename,
    })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 422)) throw error
    // Somebody else may have made it just now, or an attempt whose answer was lost.
    const made = await client.find(platformPath(version, archive))
    if (made) return requireSame(release, archive, made)
    // It fits the signed list, so what speaks against it is what was released under this name before.
    throw conflict(release, [...error.details])
  }
}

function requireSame(
  release: Release,
  { os, arch, filename, sha256 }: Archive,
  platform: Resource,
): Resource {
  const { shasum, filename: known } = platform.attributes
  if (String(shasum).toLowerCase() === sha256 && known === filename) return platform
  throw conflict(release, [
    `${os}_${arch} is ${known} with SHA-256 ${shasum}, not ${filename} with ${sha256}`,
  ])
}

/** Sends one file unless it is there; returns its name if it was sent. */
async function send(
  client: Client,
  { path, resource, isThere, link, file }: Target,
  observe: Observer,
  signal = client.retries.signal,
): Promise<string | undefined> {
  if (isThere(resource)) return undefined
  const address = resource.links?.[link] ?? (await client.get(path)).links?.[link]
  if (typeof address !== 'string') {
    throw new CliError('access', `the server gives no link to upload ${file.filename} to`, {
      advice: 'Publishing needs a token that may manage providers, of a user or a team.',
    })
  }
  const { filename, size } = file
  await upload(
    new URL(address, client.server).href,
    file,
    { ...client.retries, signal },
    {
      onBytes: (sent) => observe({ type: 'upload', file: filename, size, sent }),
      isThere: async () => isThere(await client.get(path)),
    },
  )
  observe({ type: 'upload', file: filename, size, sent: size, isDone: true })
  return filename
}
