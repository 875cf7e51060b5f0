import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { openPart, sealPart, TAG_BYTES, type Vault, VaultError, WRAPPED_BYTES } from '../lib/vault.ts'
import { type BlobStore, BlobTooLarge, type ByteRange, type StagedBytes } from './blob-store.ts'

// A sealed blob: eight bytes that say so, the wrapped data key, then parts of 64 kB, each with its tag. The nonce
// of a part is its number, and whether it is the last: parts cannot be exchanged, and none can be missing.

const MAGIC = Buffer.from('PLSEAL1\n')
const HEADER_BYTES = MAGIC.length + WRAPPED_BYTES
const PART_BYTES = 64 * 1024
const SEALED_PART_BYTES = PART_BYTES + TAG_BYTES

/** A BlobStore whose bytes are encrypted where they lie. Sizes, digests and ranges are those of the plain bytes. */
export class SealedBlobs {
  readonly #blobs: BlobStore
  readonly #vault: Vault

  constructor(blobs: BlobStore, vault: Vault) {
    this.#blobs = blobs
    this.#vault = vault
  }

  /** Receives a stream, sealing it on the way. Throws `BlobTooLarge` beyond `maxBytes`, keeping nothing. */
  async stage(source: Readable, maxBytes: number): Promise<StagedBytes> {
    const { key, wrapped } = this.#vault.newDataKey()
    const hash = createHash('sha256')
    let size = 0
    async function* plain(): AsyncGenerator<Buffer> {
      for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
        hash.update(chunk)
        yield chunk
      }
    }
    const sealed = Readable.from(seal(plain(), key, wrapped), { objectMode: false })
    const staged = await this.#blobs.stage(sealed, Number.POSITIVE_INFINITY)
    return {
      size,
      sha256: hash.digest('hex'),
      sealed: true,
      read: () => collect(this.#openFile(staged.path)),
      stream: () => Readable.from(this.#openFile(staged.path), { objectMode: false }),
      store: staged.store,
      discard: staged.discard,
    }
  }

  /** Streams the plain bytes of a blob or a part of it. Throws when there is none. */
  async read(storedAs: string, range?: ByteRange): Promise<Readable> {
    const header = await collect(await this.#blobs.read(storedAs, { start: 0, end: HEADER_BYTES - 1 }))
    const key = this.#keyOf(header)
    const first = Math.floor((range?.start ?? 0) / PART_BYTES)
    const start = HEADER_BYTES + first * SEALED_PART_BYTES
    const end = range && HEADER_BYTES + (Math.floor(range.end / PART_BYTES) + 1) * SEALED_PART_BYTES - 1
    const sealed = await this.#blobs.read(storedAs, { start, end: end ?? Number.POSITIVE_INFINITY })
    const plain = range ? cut(sealed, key, range, first) : open(sealed, key)
    return Readable.from(plain, { objectMode: false })
  }

  /** Plain bytes of a stored blob; undefined when there is none. */
  async size(storedAs: string): Promise<number | undefined> {
    const stored = await this.#blobs.size(storedAs)
    if (stored === undefined) return undefined
    const parts = Math.ceil((stored - HEADER_BYTES) / SEALED_PART_BYTES)
    return stored - HEADER_BYTES - parts * TAG_BYTES
  }

  /** Seals a blob with the vault's current key, unless it is already; whether it did. */
  async reseal(storedAs: string): Promise<boolean> {
    const header = await collect(await this.#blobs.read(storedAs, { start: 0, end: HEADER_BYTES - 1 }))
    if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return false
    const wrapped = this.#vault.rewrap(header.subarray(MAGIC.length))
    if (!wrapped) return false
    const rest = await this.#blobs.read(storedAs, { start: HEADER_BYTES, end: Number.POSITIVE_INFINITY })
    async function* renewed(wrappedAnew: Buffer): AsyncGenerator<Buffer> {
      yield Buffer.concat([MAGIC, wrappedAnew])
      yield* rest
    }
    const staged = await this.#blobs.stage(
      Readable.from(renewed(wrapped), { objectMode: false }),
      Number.POSITIVE_INFINITY,
    )
    await staged.store(storedAs)
    return true
  }

  async *#openFile(path: string): AsyncGenerator<Buffer> {
    const header = await collect(createReadStream(path, { end: HEADER_BYTES - 1 }))
    yield* open(createReadStream(path, { start: HEADER_BYTES }), this.#keyOf(header))
  }

  /** The plain bytes of a sealed blob that comes from elsewhere than the store, such as on its way into a backup. */
  async *open(stored: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let header = Buffer.alloc(0)
    const source = stored[Symbol.asyncIterator]()
    while (header.length < HEADER_BYTES) {
      const { value, done } = await source.next()
      if (done) throw new VaultError('what was sealed ends too soon')
      header = Buffer.concat([header, value])
    }
    async function* rest() {
      yield header.subarray(HEADER_BYTES)
      yield* { [Symbol.asyncIterator]: () => source }
    }
    yield* open(rest(), this.#keyOf(header))
  }

  #keyOf(header: Buffer): Buffer {
    if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new VaultError('not a sealed blob')
    return this.#vault.unwrap(header.subarray(MAGIC.length, HEADER_BYTES))
  }
}

function nonceOf(part: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(part), 0)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

async function* seal(plain: AsyncIterable<Buffer>, key: Buffer, wrapped: Buffer): AsyncGenerator<Buffer> {
  yield Buffer.concat([MAGIC, wrapped])
  let part = 0
  let before: Buffer | undefined
  for await (const bytes of inParts(plain, PART_BYTES)) {
    if (before) yield sealPart(key, nonceOf(part++, false), before)
    before = bytes
  }
  yield sealPart(key, nonceOf(part, true), before ?? Buffer.alloc(0))
}

/** The plain bytes of all parts. Throws `VaultError` when the last of them is not the one that was sealed last. */
async function* open(sealed: AsyncIterable<Buffer>, key: Buffer): AsyncGenerator<Buffer> {
  let part = 0
  let before: Buffer | undefined
  for await (const bytes of inParts(sealed, SEALED_PART_BYTES)) {
    if (before) yield openPart(key, nonceOf(part++, false), before)
    before = bytes
  }
  if (!before) throw new VaultError('what was sealed ends too soon')
  yield openPart(key, nonceOf(part, true), before)
}

/** The same bytes in parts of `length`, the last of which may be shorter. */
async function* inParts(source: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let kept: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    kept.push(chunk)
    size += chunk.length
    if (size < length) continue
    const bytes = Buffer.concat(kept)
    let from = 0
    for (; bytes.length - from >= length; from += length) yield bytes.subarray(from, from + length)
    const rest = bytes.subarray(from)
    kept = rest.length > 0 ? [rest] : []
    size = rest.length
  }
  if (size > 0) yield Buffer.concat(kept)
}

/**
 * Plain bytes `start` to `end`, of parts from the one numbered `first` on. Throws `VaultError` when there are no more
 * parts before `end`, and the last one is not the one that was sealed last.
 */
async function* cut(sealed: AsyncIterable<Buffer>, key: Buffer, { start, end }: ByteRange, first: number) {
  let part = first
  let at = first * PART_BYTES
  let isLast = false
  for await (const bytes of inParts(sealed, SEALED_PART_BYTES)) {
    const opened = openEither(key, part++, bytes)
    isLast = opened.isLast
    const from = Math.max(0, start - at)
    const to = Math.min(opened.plain.length, end + 1 - at)
    if (to > from) yield opened.plain.subarray(from, to)
    at += opened.plain.length
  }
  if (at <= end && !isLast) throw new VaultError('what was sealed ends too soon')
}

/** A part that may or may not be the blob's last; a short one is. */
function openEither(key: Buffer, part: number, sealed: Buffer): { plain: Buffer; isLast: boolean } {
  if (sealed.length === SEALED_PART_BYTES) {
    try {
      return { plain: openPart(key, nonceOf(part, false), sealed), isLast: false }
    } catch {
      // Then it is the last, or it has been changed.
    }
  }
  return { plain: openPart(key, nonceOf(part, true), sealed), isLast: true }
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks)
}
