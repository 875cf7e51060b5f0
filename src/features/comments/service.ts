import { authorize, authorizeAnyone, can } from '../../auth/authorize.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import * as runs from '../runs/service.ts'
import type { Comment } from './store.ts'
import * as store from './store.ts'

export type { Comment } from './store.ts'

type Callback = (tx: Ctx, comment: { id: string; runId: string }) => Promise<void>

const callbacks = new Set<Callback>()

/** Adds what happens, in the same transaction, when somebody comments on a run. */
export function onCreate(callback: Callback): void {
  callbacks.add(callback)
}

/** The comments on a run, the oldest first. */
export async function list(ctx: Ctx, runId: string, page: PageRequest) {
  const { id } = await runs.get(ctx, runId)
  return store.list(ctx.db, id, page)
}

export async function get(ctx: Ctx, id: string): Promise<Comment> {
  const comment = await store.find(ctx.db, id)
  if (!comment) throw notFound()
  await authorize(ctx, 'runs:read', comment.organizationId)
  return comment
}

/** Those of the comments that the subject may see. */
export async function listVisible(ctx: Ctx, ids: readonly string[]): Promise<Comment[]> {
  const comments = await store.listByIds(ctx.db, ids)
  const visible = await Promise.all(comments.map((each) => can(ctx, 'runs:read', each.organizationId)))
  return comments.filter((_, index) => visible[index])
}

/** Comments on a run, on behalf of the subject. */
export function create(ctx: Ctx, runId: string, body: string): Promise<Comment> {
  return inTransaction(ctx, async (tx) => {
    await runs.get(tx, runId, 'runs:queue')
    const id = await add(tx, runId, body)
    return get(tx, id)
  })
}

/** Keeps what the subject had to say about what it did to a run, if anything; the caller has authorized that. */
export async function keepWords(
  tx: Ctx,
  { id }: { id: string },
  _action: string,
  comment: string | undefined,
): Promise<void> {
  if (comment) await add(tx, id, comment)
}

async function add(tx: Ctx, runId: string, body: string): Promise<string> {
  const { kind, id: subjectId } = authorizeAnyone(tx)
  const id = newId('wsc')
  await store.insert(tx.db, {
    id,
    runId,
    body,
    createdByUserId: kind === 'user' ? subjectId : null,
    createdByTeamId: kind === 'team' ? subjectId : null,
    createdAt: tx.now(),
  })
  for (const callback of callbacks) await callback(tx, { id, runId })
  return id
}
