import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { openPromise } from 'yauzl'
import { newId } from '../lib/ids.ts'
import { parseShasums } from '../lib/shasums.ts'
import { EngineVersionError } from './constraints.ts'
import { PLATFORM } from './platform.ts'

const DOWNLOAD_MS = 600_000

/** A zip that has an engine, and its SHA-256. */
export interface Archive {
  url: string
  sha: string
}

/** The versions that a mirror lists in its `index.json`, which there need not be. */
export async function listMirror(mirror: string): Promise<string[]> {
  const index = await get(`${mirror}/index.json`)
    .then((response) => response.json() as Promise<{ versions?: object }>)
    .catch(() => ({ versions: {} }))
  return Object.keys(index.versions ?? {})
}

/** The archive of a version for this machine, as the mirror's list of digests has it. */
export async function findInMirror(mirror: string, version: string): Promise<Archive> {
  const name = `terraform_${version}_${PLATFORM}.zip`
  const sums = await (await get(`${mirror}/${version}/terraform_${version}_SHA256SUMS`)).text()
  const sha = parseShasums(sums).get(name)
  if (!sha) throw new Error(`the mirror has it for other platforms than ${PLATFORM}`)
  return { url: `${mirror}/${version}/${name}`, sha }
}

/**
 * Fetches an archive, and makes `target` a directory with the first of the programs `names` that is in it, all of it or
 * nothing. Its digest is checked before it is unpacked. Throws an `EngineVersionError` that says what is wrong.
 */
export async function downloadEngine(
  version: string,
  from: string,
  find: () => Archive | Promise<Archive>,
  names: readonly string[],
  target: string,
): Promise<void> {
  const place = join(dirname(target), newId('.download'))
  const unpacked = join(place, 'unpacked')
  await mkdir(unpacked, { recursive: true })
  try {
    const { url, sha } = await find()
    const zip = join(place, 'archive.zip')
    const digest = await save(await get(url), zip)
    if (digest !== sha.toLowerCase())
      throw new Error(`${withoutQuery(url)} has the digest ${digest}, and not ${sha}`)
    await unpack(zip, names, unpacked)
    await install(unpacked, target)
  } catch (error) {
    throw new EngineVersionError(
      `engine version ${version} cannot be fetched from ${withoutQuery(from)}: ${(error as Error).message}`,
      { cause: error },
    )
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }).catch((error: Error) => {
    const { code = error.name } = (error.cause ?? {}) as { code?: string }
    throw new Error(`${withoutQuery(url)} cannot be reached (${code})`, { cause: error })
  })
  if (!response.ok) throw new Error(`${withoutQuery(url)} answers ${response.status}`)
  return response
}

/** An address for the logs of runs: what may hold a secret is left out. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Writes a body into a file; returns its digest. */
async function save(response: Response, path: string): Promise<string> {
  if (!response.body) throw new Error(`${withoutQuery(response.url)} answers nothing`)
  const hash = createHash('sha256')
  const digest = new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(Readable.fromWeb(response.body), digest, createWriteStream(path))
  return hash.digest('hex')
}

async function unpack(zip: string, names: readonly string[], directory: string): Promise<void> {
  const archive = await openPromise(zip, { lazyEntries: true, autoClose: false })
  try {
    for await (const entry of archive.eachEntry()) {
      if (!names.includes(entry.fileName)) continue
      const program = createWriteStream(join(directory, entry.fileName), { mode: 0o755 })
      await pipeline(await archive.openReadStreamPromise(entry), program)
      return
    }
    throw new Error(`the archive has no ${names.join(' or ')}`)
  } finally {
    archive.close()
  }
}

/** What another process has put there in the meantime is the same. */
async function install(source: string, target: string): Promise<void> {
  await rename(source, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}
