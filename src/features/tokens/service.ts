import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { authorizeSelf, authorizeSiteAdmin } from '../../auth/authorize.ts'
import type { Subject } from '../../auth/subject.ts'
import { type Secrets, secretFile } from '../../config/secrets.ts'
import type { Ctx, Services } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId, newSecret } from '../../lib/ids.ts'
import * as users from '../users/service.ts'
import type { Token } from './store.ts'
import * as store from './store.ts'

export type { Token } from './store.ts'

/** `last-used-at` is this exact, so that reading does not mean writing. */
const LAST_USED_PRECISION_MS = 60_000

export interface TokenAttributes {
  description?: string | null
  /** Null or absent: never. */
  expiredAt?: string | null
}

/** Ends the request unless it may make tokens for the user: the user itself, or a site administrator. */
export async function authorizeUserTokens(ctx: Ctx, userId: string): Promise<void> {
  if (ctx.subject?.kind === 'user' && ctx.subject.isSiteAdmin) authorizeSiteAdmin(ctx)
  else authorizeSelf(ctx, userId)
  await users.get(ctx, userId)
}

/** Makes a token for a user. The secret is in the answer and nowhere else. */
export function createForUser(ctx: Ctx, userId: string, attributes: TokenAttributes) {
  return inTransaction(ctx, async (tx) => {
    await authorizeUserTokens(tx, userId)
    return create(tx, { userId, teamId: null, organizationId: null }, attributes)
  })
}

type Owner = Pick<Token, 'userId' | 'teamId' | 'organizationId'>

async function create(tx: Ctx, owner: Owner, { description = null, expiredAt = null }: TokenAttributes) {
  const secret = newSecret()
  const token = await store.insert(tx.db, {
    ...owner,
    id: newId('at'),
    hash: hashOf(secret),
    createdById: tx.subject?.kind === 'user' ? tx.subject.id : null,
    description,
    isBootstrap: false,
    createdAt: tx.now(),
    lastUsedAt: null,
    expiredAt,
  })
  return { ...token, secret }
}

/** The owner of a bearer token; undefined when it is unknown or has expired. */
export async function authenticate(services: Services, token: string): Promise<Subject | undefined> {
  const found = await store.findOwner(services.db, hashOf(token))
  const now = services.now()
  if (!found || (found.expiredAt && found.expiredAt <= now)) return undefined
  if (!found.lastUsedAt || Date.parse(now) - Date.parse(found.lastUsedAt) > LAST_USED_PRECISION_MS) {
    noteUse(services, found.id)
  }
  const tokenId = found.id
  if (found.userId)
    return { kind: 'user', id: found.userId, isSiteAdmin: found.isSiteAdmin === true, tokenId }
  if (found.teamId && found.teamOrganizationId) {
    return { kind: 'team', id: found.teamId, organizationId: found.teamOrganizationId, tokenId }
  }
  return found.organizationId ? { kind: 'organization', id: found.organizationId, tokenId } : undefined
}

/** Beside the request: nobody waits for it, and when it fails the next request tries again. */
function noteUse(services: Services, tokenId: string): void {
  inTransaction(services, (tx) => store.touch(tx.db, tokenId, tx.now())).catch((error: unknown) =>
    services.log.warn({ err: error }, 'the last use of a token was not recorded'),
  )
}

/**
 * Makes sure that the first site administrator can get in: with the configured token, or else with one that
 * is generated once into `<data>/admin-token`. Returns the file's path when that is where the token is.
 */
export async function ensureBootstrap(services: Services, secrets: Secrets): Promise<string | undefined> {
  const path = join(services.config.dataDir, 'admin-token')
  await inTransaction(services, async (tx) => {
    const admin = await users.ensureFirstAdmin(tx)
    const existing = await store.findBootstrap(tx.db)
    if (existing && !secrets.adminToken) return
    // The file is written first: a crash in between leaves a token that the next start takes up.
    const hash = hashOf(secrets.adminToken ?? secretFile(path, newSecret).text)
    if (existing?.hash === hash) return
    if (existing) await store.remove(tx.db, existing.id)
    await store.insert(tx.db, {
      id: newId('at'),
      hash,
      userId: admin.id,
      teamId: null,
      organizationId: null,
      createdById: null,
      description: 'First site administrator',
      isBootstrap: true,
      createdAt: tx.now(),
      lastUsedAt: null,
      expiredAt: null,
    })
  })
  return secrets.adminToken ? undefined : path
}

/** Tokens are random, so a fast hash is enough to make the stored form useless to a thief. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
