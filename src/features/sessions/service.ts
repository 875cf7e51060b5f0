import { createHash } from 'node:crypto'
import { authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { isForeignKeyViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId, newSecret } from '../../lib/ids.ts'
import { addSeconds } from '../../lib/time.ts'
import * as audit from '../audit-trail/service.ts'
import * as passwords from '../passwords/service.ts'
import { guard, type Source } from '../sign-in-attempts/service.ts'
import * as tokens from '../tokens/service.ts'
import * as users from '../users/service.ts'
import * as store from './store.ts'

/** The longest that anybody stays signed in. */
export const LIFETIME_SECONDS = 14 * 24 * 3600

const IDLE_SECONDS = 24 * 3600

/** The end of idleness is this exact, so that reading does not mean writing. */
const TOUCH_SECONDS = 60

/** The cookie's value: the only moment at which it is known. */
export interface NewSession {
  secret: string
}

/** Who is signed in. */
export interface SignedIn {
  user: users.User
}

/** Opens a session for whoever knows the password; undefined for a wrong one and an unknown name alike. */
export function signIn(
  ctx: Ctx,
  { login, password }: { login: string; password: string },
  address: string,
): Promise<NewSession | undefined> {
  // The address first, always: rows locked in one order never wait for each other in a circle.
  const sources: Source[] = [{ address }, { account: login }]
  return guard(ctx, sources, async () => {
    const user = await users.findByLogin(ctx, login.trim())
    const known = await passwords.check(ctx, user?.id, password)
    return user && known !== undefined
      ? open(ctx, { userId: user.id, tokenId: null, expiredAt: null })
      : undefined
  })
}

/** Opens a session for the user whose token this is; undefined for all other tokens. Ends with the token. */
export function signInWithToken(ctx: Ctx, token: string, address: string): Promise<NewSession | undefined> {
  return guard(ctx, [{ address }], async () => {
    const owner = await tokens.findUserOf(ctx, token.trim())
    return owner && open(ctx, owner)
  })
}

/** Makes the request speak for whoever is signed in with this cookie; undefined when nobody is. */
export async function resume(ctx: Ctx, secret: string): Promise<SignedIn | undefined> {
  const now = ctx.now()
  const session = await store.findLive(ctx.db, hashOf(secret), now)
  if (!session) return undefined
  const idleAt = addSeconds(now, IDLE_SECONDS)
  if (addSeconds(session.idleAt, TOUCH_SECONDS) < idleAt) {
    await inTransaction(ctx, (tx) => store.touch(tx.db, session.id, idleAt))
  }
  const user = await users.get(ctx, session.userId)
  ctx.subject = { kind: 'user', id: user.id, isSiteAdmin: user.isSiteAdmin }
  return { user }
}

/** Signs out: the cookie is worth nothing from now on. */
export function end(ctx: Ctx, secret: string): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    authorizeUser(tx)
    const session = await store.remove(tx.db, hashOf(secret))
    if (session) await recordChange(tx, 'destroy', session)
  })
}

/** Signs the user out everywhere. Part of a change of the password. */
export function endAllOf(tx: Ctx, userId: string): Promise<void> {
  return store.removeOfUser(tx.db, userId)
}

export function removeEnded(ctx: Ctx): Promise<void> {
  return inTransaction(ctx, (tx) => store.removeEnded(tx.db, tx.now()))
}

/** Undefined when the user or the token was deleted a moment ago. */
async function open(
  ctx: Ctx,
  { userId, tokenId, expiredAt }: { userId: string; tokenId: string | null; expiredAt: string | null },
): Promise<NewSession | undefined> {
  const secret = newSecret()
  const { id, isSiteAdmin } = await users.get(ctx, userId)
  const asUser: Ctx = { ...ctx, subject: { kind: 'user', id, isSiteAdmin } }
  const now = ctx.now()
  const latest = addSeconds(now, LIFETIME_SECONDS)
  const row = {
    id: newId('ses'),
    hash: hashOf(secret),
    userId,
    tokenId,
    createdAt: now,
    idleAt: addSeconds(now, IDLE_SECONDS),
    expiresAt: expiredAt && expiredAt < latest ? expiredAt : latest,
  }
  try {
    await inTransaction(asUser, async (tx) => {
      await recordChange(tx, 'create', await store.insert(tx.db, row))
    })
  } catch (error) {
    if (isForeignKeyViolation(error)) return undefined
    throw error
  }
  return { secret }
}

function recordChange(tx: Ctx, action: string, { id, userId, tokenId }: store.Session): Promise<void> {
  return audit.record(tx, {
    action,
    organizationId: null,
    resourceType: 'session',
    resourceId: id,
    meta: { owner: userId, token: tokenId },
  })
}

/** Cookies hold random values, so a fast hash is enough to make the stored form useless to a thief. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
