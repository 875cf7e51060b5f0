import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import { OperatorError } from '../lib/errors.ts'

/** What a backup or a restoration is refused for; its message is for the operator. */
export class BackupError extends OperatorError {
  override name = 'BackupError'
}

/** The last file: one line for each before it, as `sha256sum` writes them. Without it an archive is not whole. */
const SUMS = 'SHA256SUMS'

/** Adds a file to the archive; returns its SHA-256. */
export type Add = (name: string, content: Readable | Buffer, size: number) => Promise<string>

/** Writes a tar file, readable by its owner only, that is at `path` when it is whole and durable. */
export async function writeArchive(path: string, write: (add: Add) => Promise<void>): Promise<void> {
  const partial = `${path}.partial`
  await rm(partial, { force: true })
  const tar = pack()
  const sums: string[] = []
  const add: Add = async (name, content, size) => {
    const hash = createHash('sha256')
    const source = Buffer.isBuffer(content) ? Readable.from([content]) : content
    await pipeline(source, hashing(hash), tar.entry({ name, size, mode: 0o600 }))
    const sum = hash.digest('hex')
    sums.push(`${sum}  ${name}\n`)
    return sum
  }
  const produce = async () => {
    await write(add)
    const list = Buffer.from(sums.join(''))
    await add(SUMS, list, list.length)
    tar.finalize()
  }
  const work = [
    produce().catch((error: Error) => {
      tar.destroy(error)
      throw error
    }),
    pipeline(tar, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true })),
  ]
  try {
    await Promise.all(work)
    await rename(partial, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await Promise.allSettled(work)
    await rm(partial, { force: true })
    throw error
  }
}

/** The files of an archive in order, each to be read before the next; throws at the end when it is not whole. */
export async function* readArchive(path: string): AsyncGenerator<{ name: string; content: Readable }> {
  const file = createReadStream(path)
  const tar = extract()
  file.on('error', (error) => tar.destroy(error))
  file.pipe(tar)
  const sums: string[] = []
  let expected: string | undefined
  try {
    for await (const entry of whole(tar)) {
      const { name } = entry.header
      if (name === SUMS) {
        expected = String(await buffer(entry))
        continue
      }
      const hash = createHash('sha256')
      yield { name, content: Readable.from(hashing(hash)(whole(entry as AsyncIterable<Buffer>))) }
      sums.push(`${hash.digest('hex')}  ${name}\n`)
    }
  } finally {
    file.destroy()
  }
  if (expected === undefined) throw new BackupError(`it is truncated, or not a backup: it has no ${SUMS}`)
  if (expected !== sums.join('')) throw new BackupError(`it is damaged: its files are not as ${SUMS} says`)
}

function hashing(hash: ReturnType<typeof createHash>) {
  return async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      hash.update(chunk)
      yield chunk
    }
  }
}

/** What the library says of a file that ends too soon depends on where it does. */
async function* whole<T>(source: AsyncIterable<T>) {
  try {
    yield* source
  } catch (error) {
    throw new BackupError(`it is truncated or damaged: ${(error as Error).message}`, { cause: error })
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  await directory.sync().finally(() => directory.close())
}
