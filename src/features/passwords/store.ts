import { changesRows } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'

export async function findHash(db: Db, userId: string): Promise<string | undefined> {
  const row = await db.selectFrom('passwords').select('hash').where('userId', '=', userId).executeTakeFirst()
  return row?.hash
}

/** Gives the user this password, whether there was one or not. */
export async function put(db: Db, row: { userId: string; hash: string; updatedAt: string }): Promise<void> {
  const { hash, updatedAt } = row
  await db
    .insertInto('passwords')
    .values(row)
    .onConflict((conflict) => conflict.column('userId').doUpdateSet({ hash, updatedAt }))
    .execute()
}

/** Gives the user its first password; a unique violation when there is one. */
export async function insert(
  db: Db,
  row: { userId: string; hash: string; updatedAt: string },
): Promise<void> {
  await db.insertInto('passwords').values(row).execute()
}

/** Changes the password if it is still the one whose hash was read; returns whether it was. */
export async function replace(
  db: Db,
  userId: string,
  previous: string,
  changes: { hash: string; updatedAt: string },
): Promise<boolean> {
  return changesRows(
    db.updateTable('passwords').set(changes).where('userId', '=', userId).where('hash', '=', previous),
  )
}
