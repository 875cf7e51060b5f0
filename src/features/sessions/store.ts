import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { SessionTable } from './table.ts'

export type Session = Selectable<SessionTable>

/** The session with this hash, unless it has ended. */
export function findLive(db: Db, hash: string, now: string): Promise<Session | undefined> {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('hash', '=', hash)
    .where('idleAt', '>', now)
    .where('expiresAt', '>', now)
    .executeTakeFirst()
}

export function insert(db: Db, row: Insertable<SessionTable>): Promise<Session> {
  return db.insertInto('sessions').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function touch(db: Db, id: string, idleAt: string): Promise<void> {
  await db.updateTable('sessions').set({ idleAt }).where('id', '=', id).execute()
}

export function remove(db: Db, hash: string): Promise<Session | undefined> {
  return db.deleteFrom('sessions').where('hash', '=', hash).returningAll().executeTakeFirst()
}

export async function removeOfUser(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('userId', '=', userId).execute()
}

export async function removeEnded(db: Db, now: string): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where((eb) => eb.or([eb('idleAt', '<=', now), eb('expiresAt', '<=', now)]))
    .execute()
}
