import type { Insertable, Selectable } from 'kysely'
import { paginate } from '../../db/queries.ts'
import type { Db } from '../../db/transaction.ts'
import type { PageRequest } from '../../lib/pagination.ts'
import type { AuditEventTable } from './table.ts'

export type AuditEvent = Selectable<AuditEventTable>

/** Newest first; `since` is the earliest moment wanted. */
export function list(db: Db, organizationId: string, since: string | undefined, page: PageRequest) {
  const events = db.selectFrom('auditEvents').selectAll().where('organizationId', '=', organizationId)
  const wanted = since ? events.where('createdAt', '>=', since) : events
  return paginate(wanted.orderBy('createdAt', 'desc').orderBy('id', 'desc'), page)
}

export async function insert(db: Db, row: Insertable<AuditEventTable>): Promise<void> {
  await db.insertInto('auditEvents').values(row).execute()
}
