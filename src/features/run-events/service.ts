import { authorize, can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as runs from '../runs/service.ts'
import type { RunEvent } from './store.ts'
import * as store from './store.ts'

export type { RunEvent } from './store.ts'

/** Events that are told of a run; one has a dozen, unless somebody comments without end. */
const MAX_EVENTS = 1000

/** All that happened to a run, in order. */
export async function list(ctx: Ctx, runId: string): Promise<RunEvent[]> {
  const { id } = await runs.get(ctx, runId)
  return store.list(ctx.db, id, MAX_EVENTS)
}

export async function get(ctx: Ctx, id: string): Promise<RunEvent> {
  const event = await store.find(ctx.db, id)
  if (!event) throw notFound()
  await authorize(ctx, 'runs:read', event.organizationId)
  return event
}

/** Those of the events that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<RunEvent[]> {
  const events = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(events.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return events.filter((_, index) => visible[index])
}

interface Happening {
  runId: string
  action: string
  description?: string | undefined
  commentId?: string | undefined
  /** Whether the subject of the request is who did it. */
  bySubject?: boolean
}

/** Writes down what happened to a run, in the transaction in which it does. */
export async function record(tx: Ctx, happening: Happening): Promise<void> {
  const { runId, action, description = null, commentId = null, bySubject } = happening
  const { kind, id } = (bySubject && tx.subject) || { kind: 'system', id: null }
  await store.insert(tx.db, {
    id: newId('re'),
    runId,
    action,
    description,
    commentId,
    actorUserId: kind === 'user' ? id : null,
    actorTeamId: kind === 'team' ? id : null,
    createdAt: tx.now(),
  })
}

/** What happens to runs because somebody asks for it; all else follows from that. */
const ASKED_FOR: readonly runs.RunEvent[] = [
  'confirm',
  'discard',
  'discardPending',
  'cancelPending',
  'cancelPlan',
  'cancelConfirmed',
  'cancelApply',
  'forceCancelPlan',
  'forceCancelApply',
]

/** Writes down that a run came to another status. */
export function noteStatus(tx: Ctx, { id, status }: runs.Run, event: runs.RunEvent): Promise<void> {
  return record(tx, { runId: id, action: status, bySubject: ASKED_FOR.includes(event) })
}

/** Actions that change no status yet, and what they are called. */
const REQUESTS: Record<string, string> = {
  cancel: 'cancel_requested',
  'force-cancel': 'force_cancel_requested',
  'force-execute': 'force_executed',
}

/** Writes down what somebody asked of a run, where its status does not tell. */
export async function noteAction(tx: Ctx, { id, status }: runs.Run, action: string): Promise<void> {
  const request = REQUESTS[action]
  if (request && !runs.isFinal(status)) await record(tx, { runId: id, action: request, bySubject: true })
}

/** Writes down that somebody commented on a run. */
export function noteComment(tx: Ctx, { id, runId }: { id: string; runId: string }): Promise<void> {
  return record(tx, { runId, action: 'commented', commentId: id, bySubject: true })
}
