import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Page, PageRequest } from '../lib/pagination.ts'

/** Runs an ordered select for one page, and counts the whole list. */
export async function paginate<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  page: PageRequest,
): Promise<Page<O>> {
  const { number, size, offset } = page
  const counted = await query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  const totalCount = (counted as { total: number }).total
  const items = totalCount > offset ? await query.limit(size).offset(offset).execute() : []
  return { items, number, size, totalCount }
}

const SQLITE_UNIQUE = new Set([1555, 2067])
const POSTGRES_UNIQUE = '23505'

/** Whether `error` says that a row with the same unique value exists, and (when given) that `index` said so. */
export function isUniqueViolation(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return code === POSTGRES_UNIQUE || (errcode !== undefined && SQLITE_UNIQUE.has(errcode))
}

/** `column` contains `text`, whatever the case; `%` and `_` in `text` stand for themselves. */
export function contains<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  text: string,
) {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`lower(${eb.ref(column)}) like ${pattern} escape '\\'`
}

/** `column` equals `text`, whatever the case. */
export function sameText<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  text: string,
) {
  return sql<boolean>`lower(${eb.ref(column)}) = ${text.toLowerCase()}`
}
