import { createHash } from 'node:crypto'
import { type Entry, openPromise, type ZipFile } from 'yauzl'

/** Unpacked bytes read at most; larger archives have no package hash. */
const MAX_UNPACKED = 2 * 2 ** 30

/**
 * The `h1:` hash of a zip archive, as lock files record it: the SHA-256 of a sorted list of each file's own
 * SHA-256 and name (golang.org/x/mod/sumdb/dirhash, Hash1). Undefined when the file is not a readable zip
 * archive. Reads, extracts nothing.
 */
export async function packageHash(path: string): Promise<string | undefined> {
  try {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false })
    try {
      return await hashEntries(zip)
    } finally {
      zip.close()
    }
  } catch {
    return undefined
  }
}

async function hashEntries(zip: ZipFile): Promise<string | undefined> {
  const files: { name: string; digest: string }[] = []
  let unpacked = 0
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue
    unpacked += entry.uncompressedSize
    if (unpacked > MAX_UNPACKED) return undefined
    files.push({ name: entry.fileName, digest: await hashEntry(zip, entry) })
  }
  const list = files
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .map(({ name, digest }) => `${digest}  ${name}\n`)
  return `h1:${createHash('sha256').update(list.join('')).digest('base64')}`
}

/** yauzl ends the stream with an error when it holds more or less than the entry announced. */
async function hashEntry(zip: ZipFile, entry: Entry): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of await zip.openReadStreamPromise(entry)) hash.update(chunk)
  return hash.digest('hex')
}
