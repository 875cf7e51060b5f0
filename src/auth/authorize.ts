import type { Ctx } from '../context.ts'
import { remember } from '../db/remembered.ts'
import { AppError, notFound } from '../lib/errors.ts'
import { type Access, limitTo, NO_ACCESS, type Permission, permits, SYSTEM_ACCESS } from './permissions.ts'
import type { Subject } from './subject.ts'

/**
 * Ends the request with 404 unless its subject has `permission` in the organization. The first statement of
 * a service function once the owner of what it touches is known; a successful response during which none of
 * these functions ran is turned into a 500. Tokens that are limited to a provider pass only where it is named.
 */
export async function authorize(
  ctx: Ctx,
  permission: Permission,
  organizationId: string,
  providerId?: string,
): Promise<void> {
  ctx.request.authorized = true
  if (!(await can(ctx, permission, organizationId, providerId))) throw notFound()
}

/** Ends the request with 404 unless `allowed`, for rights that depend on more than the organization. */
export function authorizeBy(ctx: Ctx, allowed: boolean): void {
  ctx.request.authorized = true
  if (!allowed) throw notFound()
}

/** Whether the subject has `permission` in the organization; for what a response shows, not to guard. */
export async function can(
  ctx: Ctx,
  permission: Permission,
  organizationId: string,
  providerId?: string,
): Promise<boolean> {
  return permits(await accessTo(ctx, organizationId), permission, providerId)
}

/** The subject's access to an organization, looked up once a request. */
export async function accessTo(ctx: Ctx, organizationId: string): Promise<Access> {
  const { subject } = ctx
  if (!subject) return NO_ACCESS
  if (subject.kind === 'system') return SYSTEM_ACCESS
  const known = ctx.request.access.get(organizationId)
  if (known) return known
  const owners = await remember(ctx, `access ${subject.kind} ${subject.id} ${organizationId}`, (db) =>
    ctx.loadAccess(db, subject, organizationId),
  )
  const limit = limitOf(ctx)
  const access = limit ? limitTo(limit, owners) : owners
  ctx.request.access.set(organizationId, access)
  return access
}

/** The providers that the token is limited to, if it is. */
function limitOf({ subject }: Ctx): readonly string[] | undefined {
  return subject && 'registryProviderIds' in subject ? subject.registryProviderIds : undefined
}

/** A limited token speaks for its owner about the registry, and about nothing else. */
function refuseLimited(ctx: Ctx): void {
  ctx.request.authorized = true
  if (limitOf(ctx)) throw notFound()
}

/** Ends the request with 404 unless its subject is the user `userId`; returns that id. */
export function authorizeSelf(ctx: Ctx, userId: string): string {
  refuseLimited(ctx)
  if (ctx.subject?.kind !== 'user' || ctx.subject.id !== userId) throw notFound()
  return userId
}

/** The id of the user the request speaks for; team and organization tokens get 404. */
export function authorizeUser(ctx: Ctx): string {
  refuseLimited(ctx)
  if (ctx.subject?.kind !== 'user') throw notFound()
  return ctx.subject.id
}

/** Ends the request with 404 unless its subject is a site administrator. */
export function authorizeSiteAdmin(ctx: Ctx): void {
  refuseLimited(ctx)
  if (ctx.subject?.kind !== 'user' || !ctx.subject.isSiteAdmin) throw notFound()
}

/**
 * Lets every authenticated subject pass, where the answer itself is limited to what the subject may see. Agents and
 * the programs of runs get 404: they have their own addresses, and nothing to see elsewhere.
 */
export function authorizeAnyone(ctx: Ctx): Exclude<Subject, { kind: 'agent' | 'run' }> {
  refuseLimited(ctx)
  if (!ctx.subject) throw new AppError('unauthorized', 'A valid token is required.')
  if (ctx.subject.kind === 'agent' || ctx.subject.kind === 'run') throw notFound()
  return ctx.subject
}

/** Lets every token pass where the answer is about the registry, also limited ones; `can` decides what it shows. */
export function authorizeRegistryReader(ctx: Ctx): void {
  ctx.request.authorized = true
  if (!ctx.subject) throw new AppError('unauthorized', 'A valid token is required.')
}

/** The pool of the agent that the request comes from; everybody else gets 404. */
export function authorizeAgent(ctx: Ctx): { poolId: string; organizationId: string } {
  ctx.request.authorized = true
  if (ctx.subject?.kind !== 'agent') throw notFound()
  return { poolId: ctx.subject.id, organizationId: ctx.subject.organizationId }
}
