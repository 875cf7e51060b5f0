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

/** What Kysely makes of a statement that inserts, updates or deletes. */
interface Statement {
  executeTakeFirstOrThrow: () => Promise<{
    numInsertedOrUpdatedRows?: bigint | undefined
    numUpdatedRows?: bigint
    numDeletedRows?: bigint
  }>
}

/** Runs a statement; whether it changed any row. */
export async function changesRows(statement: Statement): Promise<boolean> {
  const {
    numInsertedOrUpdatedRows: inserted = 0n,
    numUpdatedRows: updated = 0n,
    numDeletedRows: deleted = 0n,
  } = await statement.executeTakeFirstOrThrow()
  return inserted + updated + deleted > 0n
}

const SQLITE_UNIQUE = new Set([1555, 2067])
const POSTGRES_UNIQUE = '23505'

/** Whether `error` says that a row with the same unique value exists, and (when given) that `index` said so. */
export function isUniqueViolation(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return code === POSTGRES_UNIQUE || (errcode !== undefined && SQLITE_UNIQUE.has(errcode))
}

const SQLITE_FOREIGN_KEY = 787
const POSTGRES_FOREIGN_KEY = '23503'

/** Whether `error` says that a row refers to one that does not exist, or that one cannot go because others do. */
export function isForeignKeyViolation(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string }
  return code === POSTGRES_FOREIGN_KEY || errcode === SQLITE_FOREIGN_KEY
}

// Only the database lowers case: SQLite leaves letters beyond ASCII as they are, JavaScript does not.

/** `column` matches `pattern`, whatever the case; `*` stands for any text. */
export function matchesWildcard<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  pattern: string,
) {
  const like = pattern.replace(/[\\%_]/g, '\\$&').replaceAll('*', '%')
  return sql<boolean>`lower(${eb.ref(column)}) like lower(${like}) escape '\\'`
}

/** `column` contains `text`, whatever the case; `%` and `_` in `text` stand for themselves. */
export function contains<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  text: string,
) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`lower(${eb.ref(column)}) like lower(${pattern}) escape '\\'`
}

/** `column` equals `text`, whatever the case. */
export function sameText<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  text: string,
) {
  return sql<boolean>`lower(${eb.ref(column)}) = lower(${text})`
}

/** `column` is one of `values`; never true for none of them, where SQL would not take an empty list. */
export function among<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  values: readonly string[],
) {
  if (values.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`${eb.ref(column)} in (${sql.join(values)})`
}

/** `column` equals one of `texts`, whatever the case. */
export function sameTextAmong<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Parameters<ExpressionBuilder<DB, TB>['ref']>[0],
  texts: readonly string[],
) {
  if (texts.length === 0) return sql<boolean>`1 = 0`
  return sql<boolean>`lower(${eb.ref(column)}) in (${sql.join(texts.map((text) => sql`lower(${text})`))})`
}
