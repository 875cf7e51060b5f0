import type { Selectable } from 'kysely'
import type { Db } from '../db/transaction.ts'
import type { StagedBytes } from './blob-store.ts'
import type { BlobTable } from './table.ts'

export type Blob = Selectable<BlobTable>

export function find(db: Db, key: string): Promise<Blob | undefined> {
  return db.selectFrom('blobs').selectAll().where('key', '=', key).executeTakeFirst()
}

/**
 * Makes staged bytes a blob: in place first, then recorded in the transaction of what refers to it. A crash
 * in between leaves bytes that nothing refers to, never a reference without bytes. What belongs to a workspace is
 * forgotten with it.
 */
export async function keep(
  db: Db,
  key: string,
  staged: StagedBytes,
  createdAt: string,
  workspaceId: string | null = null,
): Promise<void> {
  await staged.store(key)
  const { size, sha256, sealed = false } = staged
  await db.insertInto('blobs').values({ key, size, sha256, sealed, createdAt, workspaceId }).execute()
}

/** Keys of sealed blobs after `last`, in order. */
export async function listSealed(db: Db, last: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('key')
    .where('sealed', '=', true)
    .where('key', '>', last)
    .orderBy('key')
    .limit(limit)
    .execute()
  return rows.map(({ key }) => key)
}

/** Forgets blobs; the bytes are removed once that has committed. */
export async function forget(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('blobs').where('key', 'in', keys).execute()
}
