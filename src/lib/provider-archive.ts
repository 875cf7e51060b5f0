import { createHash } from 'node:crypto'
import type { Entry, ZipFile } from 'yauzl'
import { releasedPieces } from './pieces.ts'

/** Says, for the person who uploaded it, what is wrong with a provider's archive. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}

const MAX_ENTRIES = 10_000

/** Bytes that an archive may unpack to. */
const MAX_UNPACKED = 2 * 2 ** 30

/** Times its own size that an archive may unpack to, beyond the first 16 MB; real ones stay below ten. */
const MAX_RATIO = 200
const RATIO_FREE = 16 * 2 ** 20

const FILE_TYPE = 0o170000
const SYMLINK = 0o120000
const REGULAR = 0o100000
const DIRECTORY = 0o040000
const ANY_EXECUTE = 0o111

/** What is in an archive that was found to be in order. */
export interface ProviderArchive {
  /** As lock files record it: the `h1:` hash of golang.org/x/mod/sumdb/dirhash. */
  hash: string
  /** The file that clients start, and whether it is marked as one that can be started on Unix. */
  executable: { name: string; isExecutable: boolean }
}

/**
 * Checks the zip archive of provider `name`, and returns what is in it; its hash is the SHA-256 of a sorted list of
 * each file's own SHA-256 and name. Clients unpack whatever a registry hands out, so what could harm them is refused
 * with an `ArchiveError`: names that leave the directory, links, duplicates, bombs, and an archive without the
 * executable that clients look for. Reads the directory first, then each file once; nothing is written.
 */
export async function checkProviderArchive(path: string, name: string): Promise<ProviderArchive> {
  const { openPromise } = await import('yauzl')
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false }).catch(
    () => {
      throw new ArchiveError('it is not a zip archive')
    },
  )
  try {
    const entries = await readDirectory(zip)
    const executable = requireExecutable(entries, name)
    return { executable, hash: await hashFiles(zip, entries) }
  } finally {
    zip.close()
  }
}

interface ArchiveFile {
  name: string
  entry: Entry
}

async function readDirectory(zip: ZipFile): Promise<ArchiveFile[]> {
  if (zip.entryCount > MAX_ENTRIES) throw new ArchiveError(`it has more than ${MAX_ENTRIES} entries`)
  const files: ArchiveFile[] = []
  const seen = new Set<string>()
  let unpacked = 0
  for await (const entry of readable(zip.eachEntry())) {
    const name = checkName((entry.fileName as unknown as Buffer).toString('utf8'))
    // Names that differ in case only are one file on many laptops.
    if (seen.has(name.toLowerCase())) throw new ArchiveError(`it has ${name} twice`)
    seen.add(name.toLowerCase())
    checkType(entry, name)
    unpacked += entry.uncompressedSize
    if (unpacked > MAX_UNPACKED) throw new ArchiveError(`it unpacks to more than ${MAX_UNPACKED} bytes`)
    if (unpacked > RATIO_FREE && unpacked > MAX_RATIO * zip.fileSize) {
      throw new ArchiveError(`it unpacks to more than ${MAX_RATIO} times its size`)
    }
    if (!name.endsWith('/')) files.push({ name, entry })
  }
  return files
}

function checkName(name: string): string {
  const shown = JSON.stringify(name)
  if ([...name].some((character) => character < ' ' || character === '\\'))
    throw new ArchiveError(`the entry ${shown} has a character that is not allowed in names`)
  if (/^([a-z]:|\/)/i.test(name)) throw new ArchiveError(`the entry ${shown} is an absolute path`)
  if (name.split('/').includes('..')) throw new ArchiveError(`the entry ${shown} leads out of the archive`)
  return name
}

/** The upper half of the attributes holds the Unix mode; zero where the archive was made elsewhere. */
function checkType(entry: Entry, name: string): void {
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE
  if (type === SYMLINK) throw new ArchiveError(`the entry ${name} is a symbolic link`)
  if (type !== 0 && type !== REGULAR && type !== DIRECTORY) {
    throw new ArchiveError(`the entry ${name} is neither a file nor a directory`)
  }
  if (entry.isEncrypted()) throw new ArchiveError(`the entry ${name} is encrypted`)
}

/** Clients take the first file in the root with this name, followed by nothing, `_` or `.`. */
function requireExecutable(files: readonly ArchiveFile[], name: string): ProviderArchive['executable'] {
  const wanted = `terraform-provider-${name}`
  const found = files.find(
    (file) => file.name.startsWith(wanted) && /^([_.][^/]*)?$/.test(file.name.slice(wanted.length)),
  )
  if (!found) throw new ArchiveError(`it has no file ${wanted}… in its root, which terraform would start`)
  const mode = found.entry.externalFileAttributes >>> 16
  return { name: found.name, isExecutable: (mode & ANY_EXECUTE) !== 0 }
}

async function hashFiles(zip: ZipFile, files: readonly ArchiveFile[]): Promise<string> {
  const lines: string[] = []
  for (const { name, entry } of files.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  )) {
    lines.push(`${await hashFile(zip, entry, name)}  ${name}\n`)
  }
  return `h1:${createHash('sha256').update(lines.join('')).digest('base64')}`
}

/** yauzl ends the stream with an error when it holds more or less than the directory announced. */
async function hashFile(zip: ZipFile, entry: Entry, name: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const piece of releasedPieces(await zip.openReadStreamPromise(entry))) hash.update(piece)
  } catch {
    throw new ArchiveError(`the entry ${name} cannot be unpacked`)
  }
  return hash.digest('hex')
}

async function* readable(entries: AsyncIterable<Entry>): AsyncIterable<Entry> {
  try {
    yield* entries
  } catch (error) {
    throw new ArchiveError(`its directory is damaged (${(error as Error).message})`)
  }
}
