import type { Ctx } from '../../context.ts'
import { isUniqueViolation } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import { AppError, type Violation } from '../../lib/errors.ts'
import { newSecret } from '../../lib/ids.ts'
import * as store from './store.ts'

// Who may set a password is decided by the slices that use this one; it knows users by their ids only.

/** In characters. */
const MIN_LENGTH = 12
const MAX_LENGTH = 256

/** Argon2id with 32 MiB and three passes, more than the 19 MiB and two that OWASP takes for the least. */
const COST = { memoryCost: 32 * 1024, timeCost: 3, parallelism: 1 }

/** Loaded with the first password: servers that know tokens only never need it. */
const argon2 = () => import('@node-rs/argon2')

/** Takes the place of a hash where there is none, so that the answer takes as long. Nobody has its password. */
let nobodys: Promise<string> | undefined

/** What is wrong with a new password, at the place where it was given. */
export function violationsOf(password: string, pointer: string): Violation[] {
  const { length } = [...normalize(password)]
  if (length < MIN_LENGTH) {
    return [{ detail: `Password is too short (minimum is ${MIN_LENGTH} characters)`, pointer }]
  }
  if (length > MAX_LENGTH) {
    return [{ detail: `Password is too long (maximum is ${MAX_LENGTH} characters)`, pointer }]
  }
  return []
}

/** What is stored of a password. Takes a while, beside the main thread; not for the inside of a transaction. */
export async function hashPassword(password: string): Promise<string> {
  const { hash } = await argon2()
  return hash(normalize(password), COST)
}

/**
 * The hash of the user's password if `password` is it, undefined otherwise. Takes as long for users who have
 * none, and for no user at all.
 */
export async function check(
  ctx: { db: Db },
  userId: string | undefined,
  password: string,
): Promise<string | undefined> {
  const stored = await store.findHash(ctx.db, userId ?? '')
  const usable = password.length <= MAX_LENGTH * 2 ? password : ''
  nobodys ??= hashPassword(newSecret())
  // Awaited for everybody: the first to be checked must not take longer only when there is no hash.
  const substitute = await nobodys
  const { verify } = await argon2()
  const right = await verify(stored ?? substitute, normalize(usable))
  return right ? stored : undefined
}

export async function exists(ctx: { db: Db }, userId: string): Promise<boolean> {
  return (await store.findHash(ctx.db, userId)) !== undefined
}

/** Gives the user a password in place of the one there may be. */
export async function set(tx: Ctx, userId: string, hash: string): Promise<void> {
  await store.put(tx.db, { userId, hash, updatedAt: tx.now() })
  await changed(tx, userId)
}

/**
 * Gives the user a password in place of `previous`, a hash that `check` returned, or undefined for none. 409
 * when another request was faster.
 */
export async function replace(
  tx: Ctx,
  userId: string,
  previous: string | undefined,
  hash: string,
): Promise<void> {
  const updatedAt = tx.now()
  if (previous === undefined) {
    await store.insert(tx.db, { userId, hash, updatedAt }).catch((error: unknown) => {
      throw isUniqueViolation(error) ? overtaken(error) : error
    })
  } else if (!(await store.replace(tx.db, userId, previous, { hash, updatedAt }))) {
    throw overtaken()
  }
  await changed(tx, userId)
}

/** Called in the transaction of a change. */
type Hook = (tx: Ctx, userId: string) => Promise<void>

const hooks = new Set<Hook>()

/** Lets a slice end what was begun with the old password; `app.ts` registers it. */
export function onChange(hook: Hook): void {
  hooks.add(hook)
}

async function changed(tx: Ctx, userId: string): Promise<void> {
  for (const hook of hooks) await hook(tx, userId)
}

function overtaken(cause?: unknown): AppError {
  return new AppError('conflict', 'Another request changed the password at the same moment.', { cause })
}

/** The same characters however a keyboard composes them (NIST SP 800-63B). */
function normalize(password: string): string {
  return password.normalize('NFKC')
}
