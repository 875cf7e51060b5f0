import type { Insertable, Selectable, Updateable } from 'kysely'
import { paginate, sameText } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { UserTable } from './table.ts'

export type User = Selectable<UserTable>

export function find(db: Db, id: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findByEmail(db: Db, email: string): Promise<User | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where((eb) => sameText(eb, 'email', email))
    .executeTakeFirst()
}

/** A name holds no `@` and an address does, so at most one user is found. */
export function findByLogin(db: Db, login: string): Promise<User | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where((eb) => sameText(eb, login.includes('@') ? 'email' : 'username', login))
    .executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<User[]> {
  if (ids.length === 0) return Promise.resolve([])
  return db.selectFrom('users').selectAll().where('id', 'in', ids).orderBy('id').execute()
}

/** Whether the user is a member of an organization that another user, or the organization's tokens, is in. */
export async function isSeenBy(
  db: Db,
  id: string,
  viewer: { userId: string } | { organizationId: string },
): Promise<boolean> {
  let organizations = db.selectFrom('organizationMemberships').select('organizationId')
  organizations =
    'userId' in viewer
      ? organizations.where('userId', '=', viewer.userId)
      : organizations.where('organizationId', '=', viewer.organizationId)
  const shared = await db
    .selectFrom('organizationMemberships')
    .select('id')
    .where('userId', '=', id)
    .where('organizationId', 'in', organizations)
    .limit(1)
    .executeTakeFirst()
  return shared !== undefined
}

export function findFirstSiteAdmin(db: Db): Promise<User | undefined> {
  return db
    .selectFrom('users')
    .selectAll()
    .where('isSiteAdmin', '=', true)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

export function list(db: Db, page: PageRequest) {
  return paginate(db.selectFrom('users').selectAll().orderBy('createdAt').orderBy('id'), page)
}

export function insert(db: Db, row: Insertable<UserTable>): Promise<User> {
  return db.insertInto('users').values(row).returningAll().executeTakeFirstOrThrow()
}

export function update(db: Db, id: string, changes: Updateable<UserTable>): Promise<User> {
  return db.updateTable('users').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
}

export async function remove(db: Db, id: string): Promise<void> {
  await db.deleteFrom('users').where('id', '=', id).execute()
}

/** Whether another user has the name, and whether another has the address. */
export async function listTaken(
  db: Db,
  wanted: { username: string | undefined; email: string | undefined; exceptId: string | undefined },
): Promise<{ username: boolean; email: boolean }> {
  const taken = async (column: 'username' | 'email', value: string | undefined) => {
    if (value === undefined) return false
    const found = await db
      .selectFrom('users')
      .select('id')
      .where((eb) => sameText(eb, column, value))
      .executeTakeFirst()
    return found !== undefined && found.id !== wanted.exceptId
  }
  return { username: await taken('username', wanted.username), email: await taken('email', wanted.email) }
}
