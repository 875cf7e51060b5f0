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
  const { size, sha256 } = staged
  await db.insertInto('blobs').values({ key, size, sha256, createdAt, workspaceId }).execute()
}

/** Forgets blobs; the bytes are removed once that has committed. */
export async function forget(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await db.deleteFrom('blobs').where('key', 'in', keys).execute()
}
