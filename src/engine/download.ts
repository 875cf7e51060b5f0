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

/** The versions that a mirror lists in its `index.json`, which there need not be. */
export async function listMirror(mirror: string): Promise<string[]> {
  const index = await get(`${mirror}/index.json`)
    .then((response) => response.json() as Promise<{ versions?: object }>)
    .catch(() => ({ versions: {} }))
  return Object.keys(index.versions ?? {})
}

/**
 * Fetches a version of the engine into `<directory>/<version>`, all of it or nothing. Its digest is checked before it
 * is unpacked. Throws an `EngineVersionError` that says what is wrong.
 */
export async function downloadEngine(mirror: string, version: string, directory: string): Promise<void> {
  const archive = `terraform_${version}_${PLATFORM}.zip`
  const place = join(directory, newId('.download'))
  await mkdir(join(place, version), { recursive: true })
  try {
    const sums = await (await get(`${mirror}/${version}/terraform_${version}_SHA256SUMS`)).text()
    const wanted = parseShasums(sums).get(archive)
    if (!wanted) throw new Error(`the mirror has it for other platforms than ${PLATFORM}`)
    const zip = join(place, archive)
    const digest = await save(await get(`${mirror}/${version}/${archive}`), zip)
    if (digest !== wanted) throw new Error(`${archive} has the digest ${digest}, and not ${wanted}`)
    await unpack(zip, 'terraform', join(place, version, 'terraform'))
    await install(join(place, version), join(directory, version))
  } catch (error) {
    throw new EngineVersionError(
      `engine version ${version} cannot be fetched from ${mirror}: ${(error as Error).message}`,
      { cause: error },
    )
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

async function get(url: string): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) })
  if (!response.ok) throw new Error(`${url} answers ${response.status}`)
  return response
}

/** Writes a body into a file; returns its digest. */
async function save(response: Response, path: string): Promise<string> {
  if (!response.body) throw new Error(`${response.url} answers nothing`)
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

async function unpack(zip: string, name: string, target: string): Promise<void> {
  const archive = await openPromise(zip, { lazyEntries: true, autoClose: false })
  try {
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName !== name) continue
      await pipeline(await archive.openReadStreamPromise(entry), createWriteStream(target, { mode: 0o755 }))
      return
    }
    throw new Error(`the archive has no ${name}`)
  } finally {
    archive.close()
  }
}

/** What another process has put there in the meantime is the same. */
async function install(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await rename(source, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}
