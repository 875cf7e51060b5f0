import { authorize, authorizeAnyone } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as store from './store.ts'

export type { AuditEvent } from './store.ts'

interface Change {
  /** Null for what belongs to the whole site. */
  organizationId: string | null
  action: string
  resourceType: string
  resourceId: string
  /** What else there is to know, such as who was put into a team. */
  meta?: Record<string, string | null>
}

/** Writes down who changed what; called in the transaction of the change, so that both or neither exist. */
export async function record(tx: Ctx, { meta = {}, ...change }: Change): Promise<void> {
  await store.insert(tx.db, {
    ...change,
    meta: JSON.stringify(meta),
    id: newId('ae'),
    accessorType: tx.subject?.kind ?? 'link',
    accessorId: tx.subject?.id ?? null,
    requestId: tx.request.id,
    createdAt: tx.now(),
  })
}

/** The events of the organization whose token is used, newest first. */
export async function list(ctx: Ctx, since: string | undefined, page: PageRequest) {
  const subject = authorizeAnyone(ctx)
  if (subject.kind !== 'organization') throw notFound()
  await authorize(ctx, 'audit-trail:read', subject.id)
  const events = await store.list(ctx.db, subject.id, since, page)
  return { ...events, items: events.items.map((event) => ({ ...event, meta: JSON.parse(event.meta) })) }
}
