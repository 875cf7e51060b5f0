import { createWriteStream } from 'node:fs'
import { copyFile, lstat, mkdir, realpath, rm, symlink } from 'node:fs/promises'
import { dirname, join, posix, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'

/** Says, for people, what is wrong with a configuration. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError'
}

/** What a configuration may unpack to. */
export interface SlugLimits {
  bytes: number
  entries: number
}

export const SLUG_LIMITS: SlugLimits = { bytes: 2 * 2 ** 30, entries: 200_000 }

/** A link of the archive; links are made last, so that nothing is ever written through one. */
interface Link {
  name: string
  target: string
}

/**
 * Unpacks a configuration, a gzip tar, into an empty directory. What leaves it is refused with a `ConfigurationError`:
 * absolute names, `..`, links to elsewhere; so are devices, and more than the limits allow.
 */
export async function unpackSlug(slug: Readable, root: string, limits = SLUG_LIMITS): Promise<void> {
  const unpacking = new Unpacking(await realpath(root), limits)
  const tar = extract()
  const counted = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      unpacking.count(chunk.length)
      yield chunk
    }
  }
  const reading = pipeline(slug, createGunzip(), counted, tar)
  // It is asked for when the entries have ended.
  reading.catch(() => {})
  try {
    for await (const entry of tar) await unpacking.take(entry.header, Readable.from(entry))
    await reading
  } catch (error) {
    // What ended the reading says more than that it has ended.
    const reason = await reading.then(
      () => error,
      (first) => (first instanceof ConfigurationError ? first : error),
    )
    throw isBroken(reason) ? new ConfigurationError('it is not a whole gzip tar archive') : reason
  }
  await unpacking.makeLinks()
}

class Unpacking {
  readonly #root: string
  readonly #limits: SlugLimits
  readonly #links = new Map<string, Link>()
  #bytes = 0
  #entries = 0

  constructor(root: string, limits: SlugLimits) {
    this.#root = root
    this.#limits = limits
  }

  /** Counts bytes, before anything is done with them. */
  count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#limits.bytes)
      throw new ConfigurationError(`it unpacks to more than ${this.#limits.bytes} bytes`)
  }

  async take(header: Header, content: Readable): Promise<void> {
    const name = checkName(header.name)
    if (++this.#entries > this.#limits.entries)
      throw new ConfigurationError(`it has more than ${this.#limits.entries} entries`)
    if (name === '.') return void content.resume()
    this.#links.delete(name)
    await this.#write(name, header, content)
  }

  async #write(name: string, header: Header, content: Readable): Promise<void> {
    const path = join(this.#root, name)
    await mkdir(dirname(path), { recursive: true })
    switch (header.type) {
      case 'directory':
        await mkdir(path, { recursive: true })
        break
      case 'file':
      case 'contiguous-file':
        await pipeline(content, createWriteStream(path, { mode: ((header.mode ?? 0) & 0o777) | 0o600 }))
        return
      case 'symlink':
        this.#links.set(name, { name, target: checkLink(name, header.linkname ?? '') })
        break
      case 'link':
        await this.#copy(path, checkName(header.linkname ?? ''))
        break
      default:
        throw new ConfigurationError(`${shown(name)} is neither a file, a directory nor a link`)
    }
    content.resume()
  }

  /** A second name of a file becomes a file of its own. */
  async #copy(path: string, target: string): Promise<void> {
    const source = join(this.#root, target)
    const found = await lstat(source).catch(() => undefined)
    if (!found?.isFile()) throw new ConfigurationError(`${shown(target)} is linked to, and is not there`)
    this.count(found.size)
    if (source !== path) await copyFile(source, path)
  }

  async makeLinks(): Promise<void> {
    for (const { name, target } of this.#links.values()) {
      const path = join(this.#root, name)
      // A parent of it may be a link that was made just now.
      const parent = await realpath(dirname(path))
      this.#requireInside(join(parent, target), name)
      await rm(path, { recursive: true, force: true })
      await symlink(target, path)
    }
    // What a link leads to may depend on those that were made after it.
    for (const { name } of this.#links.values()) {
      const place = await realpath(join(this.#root, name)).catch(() => undefined)
      if (place !== undefined) this.#requireInside(place, name)
    }
  }

  #requireInside(place: string, name: string): void {
    if (leaves(relative(this.#root, place))) throw leavesRoot(name)
  }
}

function checkName(name: string): string {
  if (name === '' || name.includes('\0')) throw new ConfigurationError('it has an entry without a name')
  if (name.startsWith('/')) throw new ConfigurationError(`${shown(name)} is an absolute path`)
  if (name.split('/').includes('..')) throw new ConfigurationError(`${shown(name)} leads out of the archive`)
  return posix.normalize(name).replace(/(?<=.)\/$/, '')
}

/** A target climbs at its start only: behind another link, `..` would not be where it seems. */
function checkLink(name: string, target: string): string {
  const inner = target.replace(/^(\.\.?(\/+|$))*/, '')
  if (target === '' || target.startsWith('/') || inner.split('/').includes('..')) throw leavesRoot(name)
  if (leaves(posix.join(posix.dirname(name), target))) throw leavesRoot(name)
  return target
}

function leaves(path: string): boolean {
  return path === '..' || path.startsWith('../') || path.startsWith('/')
}

function leavesRoot(name: string): ConfigurationError {
  return new ConfigurationError(`${shown(name)} is a link that leads out of the archive`)
}

function shown(name: string): string {
  return JSON.stringify(name)
}

/** Errors of what reads the archive; those of the file system have a number. */
function isBroken(error: unknown): boolean {
  return !(error instanceof ConfigurationError) && (error as NodeJS.ErrnoException).syscall === undefined
}
