import { type Insertable, type Selectable, sql } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { CommentTable } from './table.ts'

/** A comment, and where it stands among what happened to its run. */
export interface Comment extends Selectable<CommentTable> {
  organizationId: string
  runEventId: string | null
}

function select(db: Db) {
  return db
    .selectFrom('comments')
    .innerJoin('runs', 'runs.id', 'comments.runId')
    .selectAll('comments')
    .select([
      'runs.organizationId',
      sql<
        string | null
      >`(select min(run_events.id) from run_events where run_events.comment_id = comments.id)`.as(
        'runEventId',
      ),
    ])
}

/** One page, the oldest first. */
export function list(db: Db, runId: string, page: PageRequest) {
  const comments = select(db).where('comments.runId', '=', runId)
  return paginate(comments.orderBy('comments.createdAt').orderBy('comments.id'), page)
}

export function find(db: Db, id: string): Promise<Comment | undefined> {
  return select(db).where('comments.id', '=', id).executeTakeFirst()
}

export function listByIds(db: Db, ids: readonly string[]): Promise<Comment[]> {
  return select(db).where('comments.id', 'in', ids).execute()
}

export async function insert(db: Db, row: Insertable<CommentTable>): Promise<void> {
  await db.insertInto('comments').values(row).execute()
}
