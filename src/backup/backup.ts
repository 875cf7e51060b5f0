import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { type BlobStore, WITHOUT_ROWS } from '../blobs/blob-store.ts'
import { SealedBlobs } from '../blobs/sealed.ts'
import type { Blob } from '../blobs/store.ts'
import type { DatabaseLocation } from '../db/connect.ts'
import * as tables from '../db/rows.ts'
import { mayExist, readSnapshot } from '../db/snapshot.ts'
import type { Db } from '../db/transaction.ts'
import type { Vault } from '../lib/vault.ts'
import { type Add, BackupError, writeArchive } from './archive.ts'
import { BLOBS, describeBackup, MANIFEST, rowsFile, SECRET_KEY } from './manifest.ts'

/** Where the data of a server is. */
export interface Data {
  database: DatabaseLocation
  blobs: BlobStore
  /** Undefined when the operator chose the key, and so keeps it. */
  secretKeyFile: string | undefined
}

/** The same of a server that has some. */
export interface Source extends Data {
  /** Opens what is sealed, to see that it is whole; throws when there is no key. */
  vault: () => Vault
}

export interface Summary {
  rows: number
  blobs: number
}

/** How often a backup is begun anew because files were deleted while it was made. */
const ATTEMPTS = 5

/**
 * Writes everything to one file, while servers go on. The rows are of one moment. Files never change, but may
 * be deleted with their rows after that moment and before they are read; then all of it is done again, of a
 * later moment, so that what is written never refers to what is not.
 */
export async function backup(data: Source, path: string, now: Date): Promise<Summary> {
  if (!mayExist(data.database))
    throw new BackupError('There is no database; see PLINTH_DATA_DIR and PLINTH_DATABASE_URL')
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptBackup(data, path, now)
    } catch (error) {
      if ((error as Error).cause !== MISSING || attempt === ATTEMPTS) throw error
    }
  }
}

const MISSING = Symbol('the file of a blob is missing')

async function attemptBackup(data: Source, path: string, now: Date): Promise<Summary> {
  const summary: Summary = { rows: 0, blobs: 0 }
  await writeArchive(path, async (add) => {
    await addText(add, MANIFEST, `${JSON.stringify(describeBackup(now.toISOString()), null, 2)}\n`)
    if (data.secretKeyFile && existsSync(data.secretKeyFile))
      await addText(add, SECRET_KEY, await readFile(data.secretKeyFile, 'utf8'))
    const { rows, blobs } = await readSnapshot(data.database, (db) => addRows(add, db))
    for (const blob of blobs) await addBlob(add, data, blob)
    const others = await addOthers(add, data)
    Object.assign(summary, { rows, blobs: blobs.length + others })
  })
  return summary
}

async function addText(add: Add, name: string, text: string): Promise<void> {
  const content = Buffer.from(text)
  await add(name, content, content.length)
}

/** Adds all rows; returns how many there are, and the blobs among them. */
async function addRows(add: Add, db: Db): Promise<{ rows: number; blobs: Blob[] }> {
  if (!(await tables.isUpToDate(db)))
    throw new BackupError('the database is of another version of Plinth; make the backup with that one')
  let count = 0
  const blobs: Blob[] = []
  for (const table of tables.TABLES) {
    let number = 0
    for await (const rows of tables.readRows(db, table)) {
      number += 1
      count += rows.length
      if (table === 'blobs') blobs.push(...(rows as unknown as Blob[]))
      await addText(add, rowsFile(table, number), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    }
  }
  return { rows: count, blobs }
}

/** Adds the sealed files that no row knows of; returns how many there are. */
async function addOthers(add: Add, data: Source): Promise<number> {
  let count = 0
  for await (const { key } of data.blobs.list()) {
    if (!WITHOUT_ROWS.test(key)) continue
    await addBlob(add, data, { key, sealed: true, size: 0, sha256: undefined })
    count += 1
  }
  return count
}

type Expected = Pick<Blob, 'key' | 'size' | 'sealed'> & { sha256: string | undefined }

async function addBlob(add: Add, data: Source, { key, size, sha256, sealed }: Expected): Promise<void> {
  let sum: string
  try {
    if (sealed) sum = await addSealed(add, data, key)
    else sum = await add(BLOBS + key, await data.blobs.read(key), size)
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw new BackupError(`the file ${key} cannot be read: ${(error as Error).message}`, {
      cause: missing ? MISSING : error,
    })
  }
  if (sha256 !== undefined && sum !== sha256)
    throw new BackupError(`the file ${key} is damaged: its SHA-256 is ${sum}, not ${sha256}`)
}

/** Adds the bytes as they lie there, and opens them on the way; returns the SHA-256 of what they hold. */
async function addSealed(add: Add, { blobs, vault }: Source, key: string): Promise<string> {
  const stored = await blobs.read(key)
  const size = (await blobs.size(key)) ?? 0
  const copy = new PassThrough()
  const sum = digestOf(new SealedBlobs(blobs, vault()).open(copy))
  // Waited for in `passOn` and below; until then nobody listens for its failure.
  sum.catch(() => {})
  async function* passOn(): AsyncGenerator<Buffer> {
    for await (const chunk of stored as AsyncIterable<Buffer>) {
      if (!copy.write(chunk)) await Promise.race([once(copy, 'drain'), sum])
      yield chunk
    }
    copy.end()
    await sum
  }
  await add(BLOBS + key, Readable.from(passOn(), { objectMode: false }), size)
  return sum
}

async function digestOf(plain: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of plain) hash.update(chunk)
  return hash.digest('hex')
}
