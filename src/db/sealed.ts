import type { Database } from './database.ts'
import { changesRows } from './queries.ts'
import type { Table } from './rows.ts'
import type { Db } from './transaction.ts'

type Columns = { [T in Table]?: readonly (keyof Database[T] & string)[] }

/** Every column that holds sealed texts, or null; the rows of its table are told apart by `id`. */
const SEALED = {
  registryLogKeys: ['privateKey'],
  runs: ['variables'],
  sshKeys: ['value'],
  stateVersionOutputs: ['value'],
  stateVersions: ['announcedOutputs', 'digests'],
  vars: ['value'],
  varsetVars: ['value'],
} as const satisfies Columns

/** A column with sealed texts. */
export interface SealedColumn {
  table: Table
  column: string
}

/** All of them. */
export const SEALED_COLUMNS: readonly SealedColumn[] = Object.entries(SEALED).flatMap(([table, columns]) =>
  columns.map((column) => ({ table: table as Table, column })),
)

interface SealedRow {
  id: string
  text: string
}

/** Some texts of the column, of rows whose ids are above `after`, in the order of the ids. */
export async function listSealedTexts(
  db: Db,
  { table, column }: SealedColumn,
  after: string,
  limit: number,
): Promise<SealedRow[]> {
  return (await db
    .selectFrom(table as 'vars')
    .select(['id', `${column as 'value'} as text`])
    .where('id', '>', after)
    .where(column as 'value', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute()) as SealedRow[]
}

/** Puts another text in place of one that is still there; whether it was. */
export async function replaceSealedText(
  db: Db,
  { table, column }: SealedColumn,
  { id, text }: SealedRow,
  by: string,
): Promise<boolean> {
  return changesRows(
    db
      .updateTable(table as 'vars')
      .set({ [column]: by })
      .where('id', '=', id)
      .where(column as 'value', '=', text),
  )
}
