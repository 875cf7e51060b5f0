import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, constants, type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { type BlobStore, BlobTooLarge, type ByteRange, type StagedBlob } from './blob-store.ts'

/** Bytes written at once: small enough to stay flat in memory, large enough to keep the disk busy. */
const WRITE_BATCH = 1 << 20

/** Bytes read at once; Node's default of 64 kB costs more than half of the throughput. */
const READ_BATCH = 4 << 20

const KEY = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/

/** Keeps blobs as files below a directory of the server's own. */
export class FileBlobStore implements BlobStore {
  readonly #root: string
  readonly #staging: string

  private constructor(root: string) {
    this.#root = root
    this.#staging = join(root, '.staging')
  }

  static async open(root: string): Promise<FileBlobStore> {
    const store = new FileBlobStore(root)
    await mkdir(store.#staging, { recursive: true, mode: 0o700 })
    return store
  }

  async stage(source: Readable, maxBytes: number): Promise<StagedBlob> {
    const path = join(this.#staging, randomUUID())
    const file = await open(path, 'wx', 0o600)
    try {
      const received = await receive(source, file, maxBytes)
      await file.sync()
      return this.#staged(path, received)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }

  #staged(path: string, received: { size: number; sha256: string }): StagedBlob {
    return {
      ...received,
      path,
      read: () => readFile(path),
      store: async (key) => {
        const target = this.#path(key)
        await mkdir(dirname(target), { recursive: true, mode: 0o700 })
        await rename(path, target)
        await syncDirectories(dirname(target), this.#root)
      },
      discard: () => rm(path, { force: true }),
    }
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const path = this.#path(key)
    await stat(path)
    return createReadStream(path, { ...range, highWaterMark: READ_BATCH })
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true })
  }

  async check(): Promise<void> {
    await access(this.#staging, constants.W_OK)
  }

  #path(key: string): string {
    if (!KEY.test(key) || key.split('/').some((part) => part.startsWith('.'))) {
      throw new Error(`not a blob key: ${key}`)
    }
    return join(this.#root, key)
  }
}

/** Writes the stream to the file in batches, hashing each while it is still in the processor's cache. */
async function receive(source: Readable, file: FileHandle, maxBytes: number) {
  const hash = createHash('sha256')
  let size = 0
  let batch: Buffer[] = []
  let batched = 0
  const flush = async () => {
    await file.writev(batch)
    batch = []
    batched = 0
  }
  // The source stays open on failure, so that the sender can still be answered.
  for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
    hash.update(chunk)
    batch.push(chunk)
    batched += chunk.length
    if (batched >= WRITE_BATCH) await flush()
  }
  if (batched > 0) await flush()
  return { size, sha256: hash.digest('hex') }
}

/** A rename survives a power cut only once the directory, and those made for it, are flushed too. */
async function syncDirectories(from: string, root: string): Promise<void> {
  for (let directory = from; ; directory = dirname(directory)) {
    const handle = await open(directory, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (directory === root || directory === dirname(directory)) return
  }
}
