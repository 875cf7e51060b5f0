import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { AuthorizationCodeTable } from './table.ts'

export type AuthorizationCode = Selectable<AuthorizationCodeTable>

export function find(db: Db, hash: string): Promise<AuthorizationCode | undefined> {
  return db.selectFrom('authorizationCodes').selectAll().where('hash', '=', hash).executeTakeFirst()
}

export async function insert(db: Db, row: Insertable<AuthorizationCodeTable>): Promise<void> {
  await db.insertInto('authorizationCodes').values(row).execute()
}

/** Uses the code up; undefined when it was used before, or never existed. */
export function redeem(db: Db, hash: string, redeemedAt: string): Promise<AuthorizationCode | undefined> {
  return db
    .updateTable('authorizationCodes')
    .set({ redeemedAt })
    .where('hash', '=', hash)
    .where('redeemedAt', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

export async function setToken(db: Db, hash: string, tokenId: string): Promise<void> {
  await db.updateTable('authorizationCodes').set({ tokenId }).where('hash', '=', hash).execute()
}

export async function removeUnused(db: Db, userId: string): Promise<void> {
  await db
    .deleteFrom('authorizationCodes')
    .where('userId', '=', userId)
    .where('redeemedAt', 'is', null)
    .execute()
}

export async function removeExpiredBefore(db: Db, moment: string): Promise<void> {
  await db.deleteFrom('authorizationCodes').where('expiresAt', '<', moment).execute()
}
