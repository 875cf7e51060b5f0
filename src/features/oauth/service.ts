import { createHash, timingSafeEqual } from 'node:crypto'
import { authorizeUser } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { newSecret } from '../../lib/ids.ts'
import { addSeconds } from '../../lib/time.ts'
import * as tokens from '../tokens/service.ts'
import * as users from '../users/service.ts'
import { type AuthorizationRequest, type RefusedRequest, readRequest } from './authorization-request.ts'
import { MAX_PORT, MIN_PORT, TERRAFORM_CLI } from './client.ts'
import type { AuthorizationCode } from './store.ts'
import * as store from './store.ts'

export { type AuthorizationRequest, MAX_PORT, MIN_PORT, type RefusedRequest, readRequest, TERRAFORM_CLI }

const CODE_SECONDS = 60

/** So long it is remembered which token a code gave, to revoke it when the code is seen again. */
const REMEMBER_SECONDS = 24 * 3600

/** A refusal of the token endpoint (RFC 6749, 5.2). */
export class OAuthError extends Error {
  override name = 'OAuthError'
  readonly code: 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type'

  constructor(code: OAuthError['code'], description: string) {
    super(description)
    this.code = code
  }
}

/** Gives the client a code for a token of the user; returns the address that brings it there. */
export async function approve(ctx: Ctx, request: AuthorizationRequest): Promise<string> {
  const userId = authorizeUser(ctx)
  const code = newSecret()
  const { clientId, redirectUri, state, codeChallenge } = request
  const now = ctx.now()
  await inTransaction(ctx, (tx) =>
    store.insert(tx.db, {
      hash: hashOf(code),
      clientId,
      redirectUri,
      codeChallenge,
      userId,
      tokenId: null,
      createdAt: now,
      expiresAt: addSeconds(now, CODE_SECONDS),
      redeemedAt: null,
    }),
  )
  return `${redirectUri}?${new URLSearchParams({ code, state })}`
}

/** The address that tells the client that the user does not want to. */
export function deny({ redirectUri, state }: AuthorizationRequest): string {
  return `${redirectUri}?${new URLSearchParams({ error: 'access_denied', state })}`
}

/** The address that tells the client what is wrong with its request. */
export function refuse({ redirectUri, state, error, description }: RefusedRequest): string {
  const parameters = { error, error_description: description, ...(state && { state }) }
  return `${redirectUri}?${new URLSearchParams(parameters)}`
}

/**
 * Exchanges a code for a token, which it returns. A code is used up by the first who presents it, whatever
 * comes of it; when it is presented again, somebody has copied it, and the token it gave is revoked.
 */
export async function redeem(ctx: Ctx, parameters: Partial<Record<string, string>>): Promise<string> {
  const { grant_type: grantType, client_id: clientId, code, code_verifier: verifier } = parameters
  if (!grantType) throw new OAuthError('invalid_request', 'grant_type is required')
  if (grantType !== 'authorization_code') {
    throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code')
  }
  if (clientId !== TERRAFORM_CLI) throw new OAuthError('invalid_client', 'client_id is not known')
  if (!code || !verifier || !parameters['redirect_uri']) {
    throw new OAuthError('invalid_request', 'code, code_verifier and redirect_uri are required')
  }
  const presented = { clientId, redirectUri: parameters['redirect_uri'], verifier }
  const secret = await inTransaction(ctx, async (tx) => {
    const found = await store.redeem(tx.db, hashOf(code), tx.now())
    if (!found) return revokeGivenBy(tx, hashOf(code))
    return matches(found, presented, tx.now()) ? giveToken(tx, found) : undefined
  })
  if (secret !== undefined) return secret
  throw new OAuthError('invalid_grant', 'the code is not valid, or not for who presents it')
}

/** Makes codes useless that nobody has presented yet. Part of a change of the password. */
export function withdraw(tx: Ctx, userId: string): Promise<void> {
  return store.removeUnused(tx.db, userId)
}

/** Forgets codes that expired long ago. */
export function removeExpired(ctx: Ctx): Promise<void> {
  return inTransaction(ctx, (tx) => {
    return store.removeExpiredBefore(tx.db, addSeconds(tx.now(), -REMEMBER_SECONDS))
  })
}

function matches(
  found: AuthorizationCode,
  presented: { clientId: string; redirectUri: string; verifier: string },
  now: string,
): boolean {
  const challenge = createHash('sha256').update(presented.verifier).digest('base64url')
  return (
    found.expiresAt > now &&
    found.clientId === presented.clientId &&
    found.redirectUri === presented.redirectUri &&
    timingSafeEqual(Buffer.from(challenge), Buffer.from(found.codeChallenge))
  )
}

async function giveToken(tx: Ctx, { hash, userId }: AuthorizationCode): Promise<string> {
  const token = await tokens.createForUser(await speakingFor(tx, userId), userId, {
    description: 'terraform login',
  })
  await store.setToken(tx.db, hash, token.id)
  return token.secret
}

async function revokeGivenBy(tx: Ctx, hash: string): Promise<undefined> {
  const found = await store.find(tx.db, hash)
  if (!found?.tokenId) return
  const asUser = await speakingFor(tx, found.userId)
  await tokens.remove(asUser, found.tokenId).catch((error: unknown) => {
    // Another request with the same code, or the user, was faster.
    if (!(error instanceof AppError && error.code === 'notFound')) throw error
  })
}

/** The request in the name of the user, who approved it. */
async function speakingFor(tx: Ctx, userId: string): Promise<Ctx> {
  const { id, isSiteAdmin } = await users.get(tx, userId)
  return { ...tx, subject: { kind: 'user', id, isSiteAdmin } }
}

/** Codes are random, so a fast hash is enough to make the stored form useless to a thief. */
function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
