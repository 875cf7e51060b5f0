import type { Selectable } from 'kysely'
import type { Db } from '../db/transaction.ts'
import type { StagedBlob } from './blob-store.ts'
import type { BlobTable } from './table.ts'

export type Blob = Selectable<BlobTable>

export function find(db: Db, key: string): Promise<Blob | undefined> {
  return db.selectFrom('blobs').selectAll().where('key', '=', key).executeTakeFirst()
}

/**
 * Makes staged bytes a blob: in place first, then recorded in the transaction of what refers to it. A crash
 * in between leaves bytes that nothing refers to, never a reference without bytes.
 */
export async function keep(db: Db, key: string, staged: StagedBlob, createdAt: string): Promise<void> {
  await staged.store(key)
  await db.insertInto('blobs').values({ key, size: staged.size, sha256: staged.sha256, createdAt }).execute()
}

/** Forgets blobs; the bytes are removed once that has committed. */
export async function forget(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('blobs').where('key', 'in', keys).execute()
}
