import { authorizeAnyone, authorizeSiteAdmin, authorizeUser } from '../../auth/authorize.ts'
import type { Ctx, Services } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound, refuse, type Violation } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as audit from '../audit-trail/service.ts'
import * as passwords from '../passwords/service.ts'
import type { User } from './store.ts'
import * as store from './store.ts'

export type { User } from './store.ts'

/** The first site administrator, made when the database is new. */
const FIRST_ADMIN = { username: 'admin', email: 'admin@plinth.invalid' }

export interface UserAttributes {
  username: string
  email: string
  isSiteAdmin?: boolean
  password?: string
}

export type UserChanges = Partial<UserAttributes>

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

/** The user with this name or address, for signing in. */
export function findByLogin(ctx: { db: Db }, login: string): Promise<User | undefined> {
  return store.findByLogin(ctx.db, login)
}

/** A user's public face, for themselves, those they share an organization with, and site administrators. */
export async function show(ctx: Ctx, id: string): Promise<User> {
  const subject = authorizeAnyone(ctx)
  const user = await get(ctx, id)
  if (subject.kind === 'user' && (subject.id === id || subject.isSiteAdmin)) return user
  const viewer =
    subject.kind === 'user'
      ? { userId: subject.id }
      : { organizationId: subject.kind === 'team' ? subject.organizationId : subject.id }
  if (!(await store.isSeenBy(ctx.db, id, viewer))) throw notFound()
  return user
}

/** The user whose token is used; undefined for the tokens of teams and organizations. */
export async function findAccount(ctx: Ctx): Promise<User | undefined> {
  const subject = authorizeAnyone(ctx)
  return subject.kind === 'user' ? get(ctx, subject.id) : undefined
}

/**
 * Changes the user's own name. The address decides which invitations are theirs and nobody confirms it by
 * mail, so only site administrators, who vouch for addresses, change their own.
 */
export function updateAccount(ctx: Ctx, changes: Pick<UserChanges, 'username' | 'email'>): Promise<User> {
  return inTransaction(ctx, async (tx) => {
    const user = await get(tx, authorizeUser(tx))
    if (changes.email !== undefined && changes.email !== user.email && !user.isSiteAdmin) {
      throw new AppError('invalid', 'Email can only be changed by a site administrator', {
        pointer: '/data/attributes/email',
      })
    }
    return change(tx, user, changes)
  })
}

/** Changes any user. Site administrators only; nobody takes that role from themselves. */
export async function update(ctx: Ctx, id: string, changes: UserChanges): Promise<User> {
  authorizeSiteAdmin(ctx)
  const hash = await hashIfSound(changes.password)
  return inTransaction(ctx, async (tx) => {
    const user = await getForAdmin(tx, id)
    if (tx.subject?.id === id && changes.isSiteAdmin === false) {
      throw new AppError('conflict', 'You cannot take the site administration from yourself.')
    }
    const changed = await change(tx, user, changes)
    if (hash) await passwords.set(tx, id, hash)
    return changed
  })
}

/** The user, for site administrators only. */
export function getForAdmin(ctx: Ctx, id: string): Promise<User> {
  authorizeSiteAdmin(ctx)
  return get(ctx, id)
}

async function change(tx: Ctx, user: User, { password, ...changes }: UserChanges): Promise<User> {
  await refuseUnsound(tx, { ...changes, password }, user.id)
  const changed = await store.update(tx.db, user.id, { ...changes, updatedAt: tx.now() }).catch(refuseRace)
  if (changed.email !== user.email) await callHooks(addressHooks, tx, changed)
  await recordChange(tx, 'update', changed, password === undefined ? {} : { password: 'changed' })
  return changed
}

/** Every user of the site, oldest first. Site administrators only. */
export function list(ctx: Ctx, page: PageRequest) {
  authorizeSiteAdmin(ctx)
  return store.list(ctx.db, page)
}

/** Called in the transaction of a change to a user. */
export type Hook = (tx: Ctx, user: User) => Promise<void>

const addressHooks = new Set<Hook>()
const removalHooks = new Set<Hook>()

/** Lets a slice that knows people by their address learn whose it is now; `app.ts` registers it. */
export function onAddress(hook: Hook): void {
  addressHooks.add(hook)
}

/** Lets a slice refuse that a user goes, or put things in order before; `app.ts` registers it. */
export function onRemove(hook: Hook): void {
  removalHooks.add(hook)
}

async function callHooks(hooks: ReadonlySet<Hook>, tx: Ctx, user: User): Promise<void> {
  for (const hook of hooks) await hook(tx, user)
}

/** Makes a user. Site administrators only: they vouch for the address. */
export async function create(ctx: Ctx, attributes: UserAttributes): Promise<User> {
  authorizeSiteAdmin(ctx)
  const hash = await hashIfSound(attributes.password)
  return inTransaction(ctx, async (tx) => {
    await refuseUnsound(tx, attributes)
    const user = await store.insert(tx.db, newUser(tx, attributes)).catch(refuseRace)
    if (hash) await passwords.set(tx, user.id, hash)
    await callHooks(addressHooks, tx, user)
    await recordChange(tx, 'create', user)
    return user
  })
}

/** Deletes a user with its tokens and memberships; nobody deletes the account they are using. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const user = await getForAdmin(tx, id)
    if (tx.subject?.id === id) throw new AppError('conflict', 'You cannot delete the account you are using.')
    await callHooks(removalHooks, tx, user)
    await store.remove(tx.db, id)
    await recordChange(tx, 'destroy', user)
  })
}

/** The longest-serving site administrator, made when there is none. Part of starting the server. */
export async function ensureFirstAdmin(tx: Services): Promise<{ user: User; isNew: boolean }> {
  const user = await store.findFirstSiteAdmin(tx.db)
  if (user) return { user, isNew: false }
  return { user: await store.insert(tx.db, newUser(tx, { ...FIRST_ADMIN, isSiteAdmin: true })), isNew: true }
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

interface Wanted {
  username?: string | undefined
  email?: string | undefined
  password?: string | undefined
}

async function refuseUnsound(tx: Ctx, { username, email, password }: Wanted, exceptId?: string) {
  const taken = await store.listTaken(tx.db, { username, email, exceptId })
  refuse(
    [
      taken.username && { detail: 'Username has already been taken', pointer: '/data/attributes/username' },
      taken.email && { detail: 'Email has already been taken', pointer: '/data/attributes/email' },
      ...passwordViolations(password),
    ].filter((violation) => !!violation),
  )
}

/** Before the transaction, which would keep others waiting; what is unsound is refused in it. */
async function hashIfSound(password: string | undefined): Promise<string | undefined> {
  if (password === undefined || passwordViolations(password).length > 0) return undefined
  return passwords.hashPassword(password)
}

function passwordViolations(password: string | undefined): Violation[] {
  return password === undefined ? [] : passwords.violationsOf(password, '/data/attributes/password')
}

/** The look-up before the write names the attribute; the index decides between two at the same moment. */
function refuseRace(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Username or email has already been taken', {
    pointer: '/data/attributes/username',
    cause: error,
  })
}

function recordChange(
  tx: Ctx,
  action: string,
  { id }: User,
  meta: Record<string, string> = {},
): Promise<void> {
  return audit.record(tx, { action, organizationId: null, resourceType: 'user', resourceId: id, meta })
}
