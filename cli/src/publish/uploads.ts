import { ApiError, type Client, type Resource } from '../api/client.ts'
import { type Upload, upload } from '../api/upload.ts'
import { CliError } from '../errors.ts'
import type { Observer } from '../observer.ts'
import { inParallel } from '../parallel.ts'
import type { Archive, Release } from '../release/release.ts'
import { conflict, type Version } from './version.ts'

/** One file that may have to be sent: the resource it belongs to, and what that calls it. */
interface Target {
  path: string
  resource: Resource
  flag: string
  link: string
  file: Upload
}

const SHASUMS = { flag: 'shasums-uploaded', link: 'shasums-upload' }
const SIGNATURE = { flag: 'shasums-sig-uploaded', link: 'shasums-sig-upload' }
const BINARY = { flag: 'provider-binary-uploaded', link: 'provider-binary-upload' }

/** Sends what the registry does not have; returns the names of the files. */
export async function uploadRelease(
  client: Client,
  release: Release,
  { path, resource }: Version,
  parallel: number,
  observe: Observer,
): Promise<string[]> {
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
  sent.push(...archives, await send(client, signature, observe))
  return sent.filter((filename) => filename !== undefined)
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
  { path, resource, flag, link, file }: Target,
  observe: Observer,
  signal = client.retries.signal,
): Promise<string | undefined> {
  if (resource.attributes[flag]) return undefined
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
      isThere: async () => (await client.get(path)).attributes[flag] === true,
    },
  )
  observe({ type: 'upload', file: filename, size, sent: size, isDone: true })
  return filename
}
