import { authorizeAnyone, authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import type { Ctx, Services } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import type { User } from './store.ts'
import * as store from './store.ts'

export type { User } from './store.ts'

/** The first site administrator, made when the database is new. */
const FIRST_ADMIN = { username: 'admin', email: 'admin@plinth.invalid' }

export interface UserAttributes {
  username: string
  email: string
  isSiteAdmin?: boolean
}

/** The user with this id, for slices that were authorized for something that names it; 404 when gone. */
export async function get(ctx: { db: Db }, id: string): Promise<User> {
  const user = await store.find(ctx.db, id)
  if (!user) throw notFound()
  return user
}

export function listByIds(ctx: { db: Db }, ids: readonly string[]): Promise<User[]> {
  return store.listByIds(ctx.db, [...new Set(ids)])
}

export function findByEmail(ctx: { db: Db }, email: string): Promise<User | undefined> {
  return store.findByEmail(ctx.db, email)
}

/** A user's public face; whoever has a token may see it. */
export function show(ctx: Ctx, id: string): Promise<User> {
  authorizeAnyone(ctx)
  return get(ctx, id)
}

/** The user the token belongs to. */
export function getAccount(ctx: Ctx): Promise<User> {
  return get(ctx, authorizeUser(ctx))
}

export function updateAccount(ctx: Ctx, changes: Partial<Pick<User, 'username' | 'email'>>): Promise<User> {
  return inTransaction(ctx, async (tx) => {
    const id = authorizeUser(tx)
    await refuseTaken(tx, changes, id)
    return store.update(tx.db, id, { ...changes, updatedAt: tx.now() }).catch(refuseRace)
  })
}

/** Every user of the site, oldest first. Site administrators only. */
export function list(ctx: Ctx, page: PageRequest) {
  authorizeSiteAdmin(ctx)
  return store.list(ctx.db, page)
}

/** Called with each new user, in the transaction that makes it. */
export type OnCreate = (tx: Ctx, user: User) => Promise<void>

const creationHooks = new Set<OnCreate>()

/** Lets a slice that knows people by their address learn of a new user; `app.ts` registers it. */
export function onCreate(hook: OnCreate): void {
  creationHooks.add(hook)
}

/** Makes a user. Site administrators only: they vouch for the address. */
export function create(ctx: Ctx, attributes: UserAttributes): Promise<User> {
  return inTransaction(ctx, async (tx) => {
    authorizeSiteAdmin(tx)
    await refuseTaken(tx, attributes)
    const user = await store.insert(tx.db, newUser(tx, attributes)).catch(refuseRace)
    for (const hook of creationHooks) await hook(tx, user)
    await recordChange(tx, 'create', user)
    return user
  })
}

/** Deletes a user with its tokens and memberships; nobody deletes the account they are using. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    authorizeSiteAdmin(tx)
    const user = await get(tx, id)
    if (tx.subject?.id === id) throw new AppError('conflict', 'You cannot delete the account you are using.')
    await store.remove(tx.db, id)
    await recordChange(tx, 'destroy', user)
  })
}

/** The first site administrator, made when there is none. Part of starting the server. */
export async function ensureFirstAdmin(tx: Services): Promise<User> {
  return (
    (await store.findByEmail(tx.db, FIRST_ADMIN.email)) ??
    (await store.insert(tx.db, newUser(tx, { ...FIRST_ADMIN, isSiteAdmin: true })))
  )
}

function newUser(tx: Services, { username, email, isSiteAdmin = false }: UserAttributes) {
  const now = tx.now()
  return {
    id: newId('user'),
    username,
    email,
    isSiteAdmin,
    isServiceAccount: false,
    createdAt: now,
    updatedAt: now,
  }
}

async function refuseTaken(tx: Ctx, { username, email }: Partial<UserAttributes>, exceptId?: string) {
  const taken = await store.listTaken(tx.db, { username, email, exceptId })
  refuse(
    [
      taken.username && { detail: 'Username has already been taken', pointer: '/data/attributes/username' },
      taken.email && { detail: 'Email has already been taken', pointer: '/data/attributes/email' },
    ].filter((violation) => !!violation),
  )
}

/** The look-up before the write names the attribute; the index decides between two at the same moment. */
function refuseRace(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Username or email has already been taken', {
    pointer: '/data/attributes/username',
    cause: error,
  })
}

function recordChange(tx: Ctx, action: string, { id }: User): Promise<void> {
  return audit.record(tx, { action, organizationId: null, resourceType: 'user', resourceId: id })
}
