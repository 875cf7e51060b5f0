import type { Insertable, Selectable } from 'kysely'
import type { Db } from '../../db/transaction.ts'
import type { TokenTable } from './table.ts'

export type Token = Selectable<TokenTable>

/** The token with this hash, and what is needed to know its owner. */
export function findOwner(db: Db, hash: string) {
  return db
    .selectFrom('tokens')
    .leftJoin('users', 'users.id', 'tokens.userId')
    .leftJoin('teams', 'teams.id', 'tokens.teamId')
    .select([
      'tokens.id',
      'tokens.userId',
      'tokens.teamId',
      'tokens.organizationId',
      'tokens.expiredAt',
      'tokens.lastUsedAt',
      'users.isSiteAdmin',
      'teams.organizationId as teamOrganizationId',
    ])
    .where('tokens.hash', '=', hash)
    .executeTakeFirst()
}

export function insert(db: Db, row: Insertable<TokenTable>): Promise<Token> {
  return db.insertInto('tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function touch(db: Db, id: string, lastUsedAt: string): Promise<void> {
  await db.updateTable('tokens').set({ lastUsedAt }).where('id', '=', id).execute()
}

export function findBootstrap(db: Db): Promise<Token | undefined> {
  return db.selectFrom('tokens').selectAll().where('isBootstrap', '=', true).executeTakeFirst()
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('tokens').where('id', '=', id).execute()
}
