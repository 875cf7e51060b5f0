import { authorizeSelf, authorizeSiteAdmin } from '../../auth/authorize.ts'
import type { Ctx, Services } from '../../context.ts'
import { isForeignKeyViolation, isUniqueViolation } from '../../db/queries.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId, newSecret } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import { addSeconds } from '../../lib/time.ts'
import type { AgentPool } from '../agent-pools/service.ts'
import * as agentPools from '../agent-pools/service.ts'
import * as audit from '../audit-trail/service.ts'
import * as organizations from '../organizations/service.ts'
import * as teams from '../teams/service.ts'
import * as users from '../users/service.ts'
import { authenticate } from './authentication.ts'
import { hashOf } from './hash.ts'
import { toLimit } from './limits.ts'
import type { Owner, TeamTokenFilter, Token } from './store.ts'
import * as store from './store.ts'

export type { TeamTokenSort, Token } from './store.ts'

export interface TokenAttributes {
  description?: string | null
  /** An ISO 8601 moment in the future; null or absent: never. */
  expiredAt?: string | null
  /** The providers that it may publish, being limited to that and to reading the registry; absent: no limit. */
  registryProviderIds?: readonly string[] | undefined
}

/** A token while it is being made: the only moment at which its secret is known. */
export type NewToken = Token & { secret: string }

/** Ends the request unless it may manage the user's tokens: the user itself, or a site administrator. */
export async function authorizeUserTokens(ctx: Ctx, userId: string): Promise<void> {
  if (ctx.subject?.kind === 'user' && ctx.subject.isSiteAdmin) authorizeSiteAdmin(ctx)
  else authorizeSelf(ctx, userId)
  await users.get(ctx, userId)
}

/** The user's tokens, oldest first unless `descending`. */
export async function listOfUser(ctx: Ctx, userId: string, page: PageRequest, descending: boolean) {
  await authorizeUserTokens(ctx, userId)
  return store.listOf(ctx.db, { userId }, page, descending)
}

/** The team's tokens. */
export async function listOfTeam(ctx: Ctx, teamId: string, page: PageRequest, descending: boolean) {
  await teams.getWithTokens(ctx, teamId)
  return store.listOf(ctx.db, { teamId }, page, descending)
}

/** The tokens that agents of the pool take. */
export async function listOfAgentPool(ctx: Ctx, agentPoolId: string, page: PageRequest, descending: boolean) {
  await getPool(ctx, agentPoolId)
  return store.listOf(ctx.db, { agentPoolId }, page, descending)
}

/** The tokens of those teams of the organization whose tokens the subject may manage. */
export async function listOfTeams(
  ctx: Ctx,
  organizationName: string,
  filter: Omit<TeamTokenFilter, 'teamIds'>,
  page: PageRequest,
) {
  const { id } = await organizations.getByName(ctx, organizationName, 'teams:read')
  const teamIds = await teams.listIdsWithTokens(ctx, id)
  return store.listOfTeams(ctx.db, { ...filter, teamIds }, page)
}

/** The token, for whoever may manage its owner's tokens. */
export async function get(ctx: Ctx, id: string): Promise<Token> {
  const token = await store.find(ctx.db, id)
  if (!token) throw notFound()
  const { userId, teamId, agentPoolId, organizationId } = token
  if (userId) await authorizeUserTokens(ctx, userId)
  else if (teamId) await teams.getWithTokens(ctx, teamId)
  else if (agentPoolId) await getPool(ctx, agentPoolId)
  else if (organizationId) await organizations.getById(ctx, organizationId, 'organization-tokens:manage')
  // Of a run: nobody manages it, it ends with the run.
  else throw notFound()
  return token
}

/** The pool, for whoever may manage its tokens. */
export function getPool(ctx: Ctx, id: string): Promise<AgentPool> {
  return agentPools.get(ctx, id, 'agent-pools:manage')
}

/** The user that a valid token speaks for, and when it ends; undefined for every other text. */
export async function findUserOf(ctx: Services, secret: string) {
  const subject = await authenticate(ctx, secret)
  // A session may all that its user may, which a limited token may not.
  if (subject?.kind !== 'user' || subject.registryProviderIds) return undefined
  const token = await store.findByHash(ctx.db, hashOf(secret))
  return token && { userId: subject.id, tokenId: token.id, expiredAt: token.expiredAt }
}

/** The organization's token; 404 when it has none. */
export async function getOfOrganization(ctx: Ctx, organizationName: string): Promise<Token> {
  const { id } = await organizations.getByName(ctx, organizationName, 'organization-tokens:manage')
  return found(await store.findOfOrganization(ctx.db, id))
}

/** The team's one token without a description; 404 when it has none. */
export async function getOfTeam(ctx: Ctx, teamId: string): Promise<Token> {
  await teams.getWithTokens(ctx, teamId)
  return found(await store.findUndescribed(ctx.db, teamId))
}

/** Makes a token for a user. */
export function createForUser(ctx: Ctx, userId: string, attributes: TokenAttributes): Promise<NewToken> {
  return inTransaction(ctx, async (tx) => {
    await authorizeUserTokens(tx, userId)
    return create(tx, { userId }, attributes)
  })
}

/** Makes one more token for a team; each has a description of its own, and one may have none. */
export function createForTeam(ctx: Ctx, teamId: string, attributes: TokenAttributes): Promise<NewToken> {
  return inTransaction(ctx, async (tx) => {
    await teams.getWithTokens(tx, teamId)
    return create(tx, { teamId }, attributes).catch(refuseTakenDescription)
  })
}

/** Makes a token for agents of a pool. */
export function createForAgentPool(
  ctx: Ctx,
  agentPoolId: string,
  attributes: TokenAttributes,
): Promise<NewToken> {
  return inTransaction(ctx, async (tx) => {
    await getPool(tx, agentPoolId)
    return create(tx, { agentPoolId }, attributes)
  })
}

/** How long after a run's time is up its token goes on, for what is under way then. */
const RUN_GRACE_SECONDS = 600

/**
 * Makes the token that the program of a run gets, and returns its secret; it ends with `endOfRun`, or by itself when no
 * phase could still be under way. Part of the work of the server itself.
 */
export async function issueForRun(
  tx: Ctx,
  run: { id: string },
): Promise<{ id: string; secret: string; seconds: number }> {
  const { planTimeout, applyTimeout } = tx.config.runs
  const { secret, row } = newToken(tx, { runId: run.id })
  const seconds = Math.max(planTimeout, applyTimeout) + RUN_GRACE_SECONDS
  await store.insert(tx.db, { ...row, expiredAt: addSeconds(tx.now(), seconds) })
  return { id: row.id, secret, seconds }
}

/** Ends all tokens of a run. */
export function endOfRun(tx: Ctx, runId: string): Promise<void> {
  return store.removeOfRun(tx.db, runId)
}

/** Makes the team's token without a description, in place of the one there may be. */
export function replaceOfTeam(ctx: Ctx, teamId: string, attributes: TokenAttributes): Promise<NewToken> {
  return inTransaction(ctx, async (tx) => {
    await teams.getWithTokens(tx, teamId)
    return replace(tx, await store.findUndescribed(tx.db, teamId), { teamId }, attributes)
  })
}

/** Makes the organization's token, in place of the one there may be. */
export function replaceOfOrganization(
  ctx: Ctx,
  organizationName: string,
  attributes: TokenAttributes,
): Promise<NewToken> {
  return inTransaction(ctx, async (tx) => {
    const { id } = await organizations.getByName(tx, organizationName, 'organization-tokens:manage')
    return replace(tx, await store.findOfOrganization(tx.db, id), { organizationId: id }, attributes)
  })
}

/** Revokes a token: requests that carry it are answered with 401 from now on. */
export function remove(ctx: Ctx, id: string): Promise<void> {
  return inTransaction(ctx, async (tx) => revoke(tx, await get(tx, id)))
}

export function removeOfTeam(ctx: Ctx, teamId: string): Promise<void> {
  return inTransaction(ctx, async (tx) => revoke(tx, await getOfTeam(tx, teamId)))
}

export function removeOfOrganization(ctx: Ctx, organizationName: string): Promise<void> {
  return inTransaction(ctx, async (tx) => revoke(tx, await getOfOrganization(tx, organizationName)))
}

function found(token: Token | undefined): Token {
  if (!token) throw notFound()
  return token
}

async function replace(tx: Ctx, existing: Token | undefined, owner: Owner, attributes: TokenAttributes) {
  if (existing) await revoke(tx, existing)
  return create(tx, owner, { ...attributes, description: null }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', 'Another request made this token at the same moment.', { cause: error })
  })
}

async function create(tx: Ctx, owner: Owner, attributes: TokenAttributes): Promise<NewToken> {
  const { secret, row } = newToken(tx, owner)
  const registryProviderIds = await toLimit(tx, owner, attributes.registryProviderIds)
  const token = await store
    .insert(tx.db, {
      ...row,
      registryProviderIds,
      createdById: tx.subject?.kind === 'user' ? tx.subject.id : null,
      description: attributes.description || null,
      expiredAt: parseExpiry(attributes.expiredAt, tx.now()),
    })
    .catch((error: unknown) => {
      // Another request deleted the owner in the meantime.
      throw isForeignKeyViolation(error) ? notFound() : error
    })
  await recordChange(tx, 'create', token)
  return { ...token, secret }
}

function newToken(tx: Ctx, owner: Owner) {
  const secret = newSecret()
  const row = {
    userId: null,
    teamId: null,
    organizationId: null,
    agentPoolId: null,
    runId: null,
    ...owner,
    id: newId('at'),
    hash: hashOf(secret),
    createdById: null,
    description: null,
    registryProviderIds: null,
    isBootstrap: false,
    createdAt: tx.now(),
    lastUsedAt: null,
  }
  return { secret, row }
}

async function revoke(tx: Ctx, token: Token): Promise<void> {
  if (!(await store.remove(tx.db, token.id))) throw notFound()
  await recordChange(tx, 'destroy', token)
}

/** The moment in the form of stored timestamps, whatever its offset. */
function parseExpiry(text: string | null | undefined, now: string): string | null {
  if (!text) return null
  const milliseconds = Date.parse(text)
  const pointer = '/data/attributes/expired-at'
  if (Number.isNaN(milliseconds)) throw new AppError('invalid', 'Expired at is not a date', { pointer })
  if (milliseconds <= Date.parse(now)) {
    throw new AppError('invalid', 'Expired at must be in the future', { pointer })
  }
  return new Date(milliseconds).toISOString()
}

function refuseTakenDescription(error: unknown): never {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('invalid', 'Description has already been taken', {
    pointer: '/data/attributes/description',
    cause: error,
  })
}

async function recordChange(tx: Ctx, action: string, token: Token): Promise<void> {
  const { id, userId, teamId, agentPoolId } = token
  const organizationId = teamId
    ? await teams.organizationOf(tx, teamId)
    : agentPoolId
      ? (await getPool(tx, agentPoolId)).organizationId
      : token.organizationId
  await audit.record(tx, {
    action,
    organizationId,
    resourceType: 'authentication_token',
    resourceId: id,
    meta: { owner: userId ?? teamId ?? agentPoolId ?? token.organizationId },
  })
}
