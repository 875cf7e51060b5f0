import { authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, refuse } from '../../lib/errors.ts'
import * as audit from '../audit-trail/service.ts'
import * as passwords from '../passwords/service.ts'
import { guard } from '../sign-in-attempts/service.ts'
import * as service from './service.ts'

const at = (attribute: string) => `/data/attributes/${attribute}`

interface PasswordChange {
  /** Empty when it was not given. */
  current: string
  password: string
  repeated: string
}

/**
 * Changes the user's own password. Whoever has one proves to know it, so that a stolen token does not become
 * the account; the first one needs no proof, since the token that asks could as well make further tokens.
 */
export async function changePassword(ctx: Ctx, change: PasswordChange): Promise<service.User> {
  const userId = authorizeUser(ctx)
  const hasPassword = await passwords.exists(ctx, userId)
  refuse([
    ...(hasPassword && change.current === ''
      ? [{ detail: "Current password can't be blank", pointer: at('current_password') }]
      : []),
    ...passwords.violationsOf(change.password, at('password')),
    ...(change.password === change.repeated
      ? []
      : [{ detail: "Password confirmation doesn't match Password", pointer: at('password_confirmation') }]),
  ])
  const previous = hasPassword ? await proveCurrent(ctx, userId, change.current) : undefined
  const hash = await passwords.hashPassword(change.password)
  return inTransaction(ctx, async (tx) => {
    const user = await service.get(tx, userId)
    await passwords.replace(tx, userId, previous, hash)
    await audit.record(tx, {
      action: 'update',
      organizationId: null,
      resourceType: 'user',
      resourceId: userId,
      meta: { password: 'changed' },
    })
    return user
  })
}

/** The hash of the current password. */
async function proveCurrent(ctx: Ctx, userId: string, password: string): Promise<string> {
  const hash = await guard(ctx, [{ account: userId }], () => passwords.check(ctx, userId, password))
  if (hash !== undefined) return hash
  throw new AppError('invalid', 'Current password is wrong', { pointer: at('current_password') })
}
