import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'

/** Says, for the person who uploaded it, what is wrong with the archive of a configuration. */
export class SlugError extends Error {
  override name = 'SlugError'
}

const MAX_ENTRIES = 100_000

/** Bytes that an archive may unpack to. */
const MAX_UNPACKED = 2 * 2 ** 30

/** Times its own size that an archive may unpack to, beyond the first 64 MB; text stays below thirty. */
const MAX_RATIO = 200
const RATIO_FREE = 64 * 2 ** 20

/** Takes the bytes of one file of an archive, to their end; what it throws ends the reading. */
export type TakeFile = (path: string, bytes: AsyncIterable<Buffer>) => Promise<void>

/**
 * Reads the archive of a configuration, a gzipped tar, to its end, and throws a `SlugError` for what no worker should
 * unpack: names and links that leave the directory, entries below links, devices, and bombs. Nothing is
 * written. `size` is that of the archive in bytes; `take` gets its files, one after the other, by their normal paths.
 */
export async function checkSlug(archive: Readable, size: number, take?: TakeFile): Promise<void> {
  const tar = extract()
  const links = new Set<string>()
  let entries = 0
  const inspected = (async () => {
    for await (const entry of tar) {
      entries += 1
      if (entries > MAX_ENTRIES) throw new SlugError(`it has more than ${MAX_ENTRIES} entries`)
      checkEntry(entry.header, links)
      if (take && isFile(entry.header))
        await take(posix.normalize(entry.header.name), entry as AsyncIterable<Buffer>)
      entry.resume()
    }
  })()
  const gunzip = createGunzip()
  const unpacking = pipeline(
    archive,
    gunzip,
    limit(Math.min(MAX_UNPACKED, RATIO_FREE + MAX_RATIO * size)),
    tar,
  )
  const [read, received] = await Promise.allSettled([inspected, unpacking])
  if (read.status === 'rejected' && read.reason instanceof SlugError) throw read.reason
  if (received.status === 'rejected') throw explain(received.reason)
  if (read.status === 'rejected') throw explain(read.reason)
}

function limit(maxBytes: number) {
  return async function* (source: AsyncIterable<Buffer>) {
    let unpacked = 0
    for await (const chunk of source) {
      unpacked += chunk.length
      if (unpacked > maxBytes) throw new SlugError(`it unpacks to more than ${maxBytes} bytes`)
      yield chunk
    }
  }
}

/** What the libraries say of bytes that are not what they should be; anything else is not about the archive. */
function explain(error: unknown): unknown {
  const { code = '', message = '' } = error as NodeJS.ErrnoException
  if (error instanceof SlugError) return error
  if (code.startsWith('Z_')) return new SlugError('it is not a gzipped archive, or not all of one')
  if (/tar header|Unexpected end of data/.test(message))
    return new SlugError('it is not a tar archive, or not all of one')
  return error
}

function isFile({ type }: Pick<Header, 'type'>): boolean {
  return type === 'file' || type === 'contiguous-file'
}

/** `links` are the links before it, to which it is added when it is one. */
function checkEntry({ name, type, linkname }: Header, links: Set<string>): void {
  const path = posix.normalize(name).replace(/\/$/, '')
  requireInside(name)
  for (let parent = posix.dirname(path); parent !== '.'; parent = posix.dirname(parent)) {
    if (links.has(parent)) throw new SlugError(`${name} lies below a link`)
  }
  if (type === 'symlink') {
    checkLink(name, path, linkname ?? '')
    links.add(path)
  } else if (type === 'link') {
    requireInside(linkname ?? '')
  } else if (!isFile({ type }) && type !== 'directory') {
    throw new SlugError(`${name} is neither a file, nor a directory, nor a link`)
  }
}

function requireInside(name: string): void {
  if (name === '' || name.includes('\0') || posix.isAbsolute(name) || name.split('/').includes('..'))
    throw new SlugError(`${name} is not a path inside of it`)
}

/**
 * A target may climb at its start only: after the name of another link, `..` would not be where it seems. A link
 * which replaces a directory whose entries came before cannot be unpacked, and harms nobody.
 */
function checkLink(name: string, path: string, target: string): void {
  const inner = target.replace(/^(\.\.?\/)*/, '')
  const resolved = posix.join(posix.dirname(path), target)
  const climbs = inner !== '..' && inner.split('/').includes('..')
  if (target === '' || posix.isAbsolute(target) || climbs || resolved.split('/')[0] === '..')
    throw new SlugError(`${name} is a link that leads out of it, or may do so`)
}
