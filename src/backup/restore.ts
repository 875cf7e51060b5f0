import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type BlobStore, type StagedBlob, WITHOUT_ROWS } from '../blobs/blob-store.ts'
import { secretFile } from '../config/secrets.ts'
import { connect } from '../db/connect.ts'
import * as tables from '../db/rows.ts'
import type { Db } from '../db/transaction.ts'
import { BackupError, readArchive } from './archive.ts'
import type { Data, Summary } from './backup.ts'
import { BLOBS, checkManifest, MANIFEST, ROWS_FILE, SECRET_KEY } from './manifest.ts'

/** Loads a backup into a database and a blob store that are empty, all of it or nothing. */
export async function restore(data: Data, path: string): Promise<Summary> {
  if (!existsSync(path)) throw new BackupError(`There is no file ${path}`)
  const connection = await connect(data.database, () => {})
  const restoration = new Restoration(data.blobs)
  try {
    const obstacles = await listObstacles(data, connection.reads)
    if (obstacles.length > 0)
      throw new BackupError(
        `A backup is restored into nothing, and there is already:\n${obstacles.join('\n')}`,
      )
    await connection.writes.transaction().execute(async (tx) => {
      await restoration.load(tx, path)
      await restoration.keep(data.secretKeyFile)
    })
    return restoration.summary
  } catch (error) {
    await restoration.undo()
    throw error
  } finally {
    await connection.close()
  }
}

async function listObstacles({ blobs, secretKeyFile }: Data, db: Db): Promise<string[]> {
  const obstacles = (await tables.listFilled(db)).map((table) => `rows of the table ${table}`)
  for await (const { key } of blobs.list()) {
    obstacles.push(`the file ${key} among the blobs`)
    break
  }
  if (secretKeyFile && existsSync(secretKeyFile)) obstacles.push(`the key ${secretKeyFile}`)
  return obstacles
}

/** One restoration: what it has read so far, and what it put outside of the database. */
class Restoration {
  readonly summary: Summary = { rows: 0, blobs: 0 }
  readonly #store: BlobStore
  readonly #staged = new Map<string, StagedBlob>()
  /** Digests by key, as the rows say; of sealed files, which is the digest of what they hold, undefined. */
  readonly #expected = new Map<string, string | undefined>()
  #secretKey: string | undefined
  /** How to undo what `keep` did. */
  readonly #kept: (() => Promise<void>)[] = []

  constructor(blobs: BlobStore) {
    this.#store = blobs
  }

  /** Inserts the rows, and receives the files: those count only when the archive has turned out to be whole. */
  async load(tx: Db, path: string): Promise<void> {
    try {
      let isFirst = true
      for await (const { name, content } of readArchive(path)) {
        if (isFirst !== (name === MANIFEST)) throw new BackupError('it is not a backup of Plinth')
        isFirst = false
        await this.#take(tx, name, content)
      }
    } catch (error) {
      throw new BackupError(`${path} cannot be restored: ${(error as Error).message}`, { cause: error })
    }
  }

  async #take(tx: Db, name: string, content: Readable): Promise<void> {
    const table = ROWS_FILE.exec(name)?.[1]
    if (name === MANIFEST) checkManifest(await text(content))
    else if (name === SECRET_KEY) this.#secretKey = (await text(content)).trim()
    else if (name.startsWith(BLOBS)) await this.#receive(name.slice(BLOBS.length), content)
    else if (table) await this.#insert(tx, table, await text(content))
    else throw new BackupError(`it has a file ${name}`)
  }

  async #insert(tx: Db, name: string, lines: string): Promise<void> {
    const table = tables.TABLES.find((known) => known === name)
    if (!table) throw new BackupError(`it has a table ${name}`)
    const rows = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as tables.Row)
    if (table === 'blobs')
      for (const { key, sha256, sealed } of rows)
        this.#expected.set(String(key), sealed ? undefined : String(sha256))
    await tables.insertRows(tx, table, rows)
    this.summary.rows += rows.length
  }

  async #receive(key: string, content: Readable): Promise<void> {
    const staged = await this.#store.stage(content, Number.POSITIVE_INFINITY)
    this.#staged.set(key, staged)
    if (!this.#expected.has(key) && !WITHOUT_ROWS.test(key))
      throw new BackupError(`no row knows of the file ${key}`)
    const expected = this.#expected.get(key)
    if (expected !== undefined && staged.sha256 !== expected)
      throw new BackupError(`the file ${key} is damaged: its SHA-256 is ${staged.sha256}`)
    this.summary.blobs += 1
  }

  /** Puts what was received into place. */
  async keep(secretKeyFile: string | undefined): Promise<void> {
    for (const [key, staged] of this.#staged) {
      this.#kept.push(() => this.#store.remove(key))
      await staged.store(key)
    }
    const secretKey = this.#secretKey
    if (!secretKey || !secretKeyFile) return
    this.#kept.push(() => rm(secretKeyFile, { force: true }))
    secretFile(secretKeyFile, () => secretKey)
  }

  async undo(): Promise<void> {
    for (const undo of this.#kept) await undo()
    for (const staged of this.#staged.values()) await staged.discard()
  }
}
