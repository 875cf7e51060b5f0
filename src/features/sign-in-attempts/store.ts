import type { Db } from '../../db/transaction.ts'

/**
 * Counts an attempt unless the key is blocked; returns the count, or undefined when it is. One statement, so
 * that of many at the same moment each is counted.
 */
export async function count(
  db: Db,
  key: string,
  { now, forgottenAt }: { now: string; forgottenAt: string },
): Promise<number | undefined> {
  const row = await db
    .insertInto('signInAttempts')
    .values({ key, count: 1, blockedUntil: now, forgottenAt })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet((eb) => ({
          count: eb
            .case()
            .when('signInAttempts.forgottenAt', '<=', now)
            .then(1)
            .else(eb('signInAttempts.count', '+', 1))
            .end(),
          forgottenAt,
        }))
        .where('signInAttempts.blockedUntil', '<=', now),
    )
    .returning('count')
    .executeTakeFirst()
  return row?.count
}

export async function block(db: Db, key: string, blockedUntil: string): Promise<void> {
  await db.updateTable('signInAttempts').set({ blockedUntil }).where('key', '=', key).execute()
}

export async function findBlockedUntil(db: Db, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('signInAttempts')
    .select('blockedUntil')
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.blockedUntil
}

/** Takes one attempt back, and what it blocked. */
export async function uncount(db: Db, key: string, now: string): Promise<void> {
  await db
    .updateTable('signInAttempts')
    .set((eb) => ({ count: eb('count', '-', 1), blockedUntil: now }))
    .where('key', '=', key)
    .where('count', '>', 0)
    .execute()
}

export async function remove(db: Db, key: string): Promise<void> {
  await db.deleteFrom('signInAttempts').where('key', '=', key).execute()
}

export async function removeForgotten(db: Db, now: string): Promise<void> {
  await db.deleteFrom('signInAttempts').where('forgottenAt', '<=', now).execute()
}
