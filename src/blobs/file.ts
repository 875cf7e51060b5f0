import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { storageFull } from '../lib/errors.ts'
import { isAlive } from '../lib/processes.ts'
import { type BlobStore, BlobTooLarge, type ByteRange, type StagedBlob } from './blob-store.ts'

/** Bytes written at once: small enough to stay flat in memory, large enough to keep the disk busy. */
const WRITE_BATCH = 1 << 20

/** Bytes read at once; Node's default of 64 kB costs more than half of the throughput. */
const READ_BATCH = 4 << 20

const STAGING = '.staging'

const KEY = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/

/** Keeps blobs as files below a directory of the server's own. */
export class FileBlobStore implements BlobStore {
  readonly #root: string
  /** Of this process; its name tells others whether it is still alive. */
  readonly #staging: string

  private constructor(root: string) {
    this.#root = root
    this.#staging = join(root, STAGING, `${hostname()}~${process.pid}~${randomUUID()}`)
  }

  static async open(root: string): Promise<FileBlobStore> {
    const store = new FileBlobStore(root)
    stagingOfThisProcess.add(store.#staging)
    await mkdir(store.#staging, { recursive: true, mode: 0o700 })
    await store.sweepStaging()
    return store
  }

  async stage(source: AsyncIterable<Buffer>, maxBytes: number): Promise<StagedBlob> {
    const path = join(this.#staging, randomUUID())
    const file = await open(path, 'wx', 0o600).catch(refuseFull)
    try {
      const received = await receive(source, file, maxBytes)
      // The flush goes on while what was received is being checked.
      const flushed = file.datasync().finally(() => file.close())
      flushed.catch(() => {})
      return this.#staged(path, received, flushed)
    } catch (error) {
      await file.close()
      await rm(path, { force: true })
      return refuseFull(error)
    }
  }

  #staged(path: string, received: { size: number; sha256: string }, flushed: Promise<void>): StagedBlob {
    return {
      ...received,
      path,
      read: () => readFile(path),
      stream: () => createReadStream(path, { highWaterMark: READ_BATCH }),
      store: async (key) => {
        const target = this.#path(key)
        await flushed.catch(refuseFull)
        await mkdir(dirname(target), { recursive: true, mode: 0o700 }).catch(refuseFull)
        await rename(path, target).catch(refuseFull)
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

  async size(key: string): Promise<number | undefined> {
    try {
      return (await stat(this.#path(key))).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true })
  }

  async *list() {
    const entries = await readdir(this.#root, { recursive: true, withFileTypes: true })
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name)
      const key = relative(this.#root, path)
      if (!entry.isFile() || key.startsWith(STAGING)) continue
      const { ctime } = await stat(path).catch(() => ({ ctime: undefined }))
      if (ctime) yield { key, storedAt: ctime.toISOString() }
    }
  }

  /** A process on this machine is asked for; one elsewhere is given a day without a sign of life. */
  async sweepStaging(): Promise<void> {
    for (const name of await readdir(join(this.#root, STAGING))) {
      const path = join(this.#root, STAGING, name)
      if (!stagingOfThisProcess.has(path) && (await isAbandoned(path, name)))
        await rm(path, { recursive: true, force: true })
    }
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

/** Writes the stream to the file in batches; while one is being written, the next is received and hashed. */
async function receive(source: AsyncIterable<Buffer>, file: FileHandle, maxBytes: number) {
  const hash = createHash('sha256')
  let size = 0
  let batch = Buffer.allocUnsafeSlow(WRITE_BATCH)
  let spare = Buffer.allocUnsafeSlow(WRITE_BATCH)
  let batched = 0
  let writing: Promise<unknown> = Promise.resolve()
  const flush = async () => {
    await writing
    writing = writeWhole(file, batch.subarray(0, batched))
    // It is awaited before the next one; until then nobody listens for its failure.
    writing.catch(() => {})
    ;[batch, spare] = [spare, batch]
    batched = 0
  }
  for await (const piece of source) {
    size += piece.length
    if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
    hash.update(piece)
    for (let taken = 0; taken < piece.length; ) {
      const copied = piece.copy(batch, batched, taken)
      taken += copied
      batched += copied
      if (batched === WRITE_BATCH) await flush()
    }
  }
  if (batched > 0) await flush()
  await writing
  return { size, sha256: hash.digest('hex') }
}

const FULL = new Set(['ENOSPC', 'EDQUOT'])

function refuseFull(error: unknown): never {
  throw FULL.has((error as NodeJS.ErrnoException).code ?? '') ? storageFull(error) : error
}

/** A disk that is almost full takes a part without an error. */
async function writeWhole(file: FileHandle, batch: Buffer): Promise<void> {
  const { bytesWritten } = await file.write(batch)
  if (bytesWritten < batch.length)
    throw Object.assign(new Error('the disk took a part only'), { code: 'ENOSPC' })
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

/** Several stores may be open in one process, as in the tests. */
const stagingOfThisProcess = new Set<string>()

const DAY_MS = 24 * 3600 * 1000

async function isAbandoned(path: string, name: string): Promise<boolean> {
  const [host, pid] = name.split('~')
  // A directory of this process id that is not ours is of a process before: containers start with the same id.
  if (host === hostname()) return Number(pid) === process.pid || !isAlive(Number(pid))
  const { mtimeMs } = await stat(path)
  return Date.now() - mtimeMs > DAY_MS
}
