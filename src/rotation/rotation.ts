import type { BlobStore } from '../blobs/blob-store.ts'
import { WITHOUT_ROWS } from '../blobs/blob-store.ts'
import { SealedBlobs } from '../blobs/sealed.ts'
import { listSealed } from '../blobs/store.ts'
import { type Connection, connect, type DatabaseLocation } from '../db/connect.ts'
import { isUpToDate } from '../db/rows.ts'
import { listSealedTexts, replaceSealedText, SEALED_COLUMNS, type SealedColumn } from '../db/sealed.ts'
import { mayExist, readSnapshot } from '../db/snapshot.ts'
import { OperatorError } from '../lib/errors.ts'
import type { Vault } from '../lib/vault.ts'

/** Why nothing was sealed anew; its message is for the operator. */
export class RotationError extends OperatorError {
  override name = 'RotationError'
}

export interface Rotation {
  database: DatabaseLocation
  blobs: BlobStore
  /** With the new key first, and those that it replaces. */
  vault: Vault
}

/** What was sealed with another key than the current one, and now is with that. */
export interface Rotated {
  texts: number
  files: number
}

/** Texts, or files, looked at at once. */
const BATCH = 200

/**
 * Seals everything with the vault's current key. It may be stopped and begun again: what is done already is passed over.
 * Servers may run meanwhile, if they know the current key and the old ones: a text that they change is left to them.
 */
export async function rotate({ database, blobs, vault }: Rotation): Promise<Rotated> {
  if (!mayExist(database))
    throw new RotationError('There is no database; see PLINTH_DATA_DIR and PLINTH_DATABASE_URL')
  if (!(await readSnapshot(database, isUpToDate)))
    throw new RotationError('The database is of another version of Plinth; start this one first')
  const connection = await connect(database, () => {})
  try {
    let texts = 0
    for (const column of SEALED_COLUMNS) texts += await resealTexts(connection, vault, column)
    return { texts, files: await resealFiles(connection, blobs, vault) }
  } finally {
    await connection.close()
  }
}

async function resealTexts(
  { reads, writes }: Connection,
  vault: Vault,
  column: SealedColumn,
): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const rows = await listSealedTexts(reads, column, after, BATCH)
    const renewed = rows.flatMap((row) => {
      const by = vault.reseal(row.text)
      return by === undefined ? [] : { row, by }
    })
    if (renewed.length > 0)
      await writes.transaction().execute(async (tx) => {
        for (const { row, by } of renewed) if (await replaceSealedText(tx, column, row, by)) count += 1
      })
    const last = rows.at(-1)
    if (!last) return count
    after = last.id
  }
}

async function resealFiles({ reads }: Connection, blobs: BlobStore, vault: Vault): Promise<number> {
  const sealed = new SealedBlobs(blobs, vault)
  let count = 0
  const reseal = async (key: string) => {
    if (await sealed.reseal(key).catch(ignoreMissing)) count += 1
  }
  for (let after = ''; ; ) {
    const keys = await listSealed(reads, after, BATCH)
    for (const key of keys) await reseal(key)
    const last = keys.at(-1)
    if (last === undefined) break
    after = last
  }
  for await (const { key } of blobs.list()) if (WITHOUT_ROWS.test(key)) await reseal(key)
  return count
}

/** A file may go with its row at any moment. */
function ignoreMissing(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOENT') return false
  throw error
}
