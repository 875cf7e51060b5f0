import { type ColumnType, type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { inTransaction } from './transaction.ts'

interface Samples {
  sampleRows: {
    rowId: string
    isOn: boolean
    isMissing: boolean | null
    byteCount: number
    smallCount: number
    note: string | null
    version2: ColumnType<string>
  }
}

onEachDatabase('values', (database) => {
  const row = {
    rowId: 'row-1',
    isOn: true,
    isMissing: null,
    byteCount: 5 * 2 ** 40,
    smallCount: 7,
    note: 'é 日本 🎉 \'";--\n',
    version2: '2024-01-02T03:04:05.678Z',
  }

  test('come back as they went in: booleans, large numbers, nulls, text, names in camelCase', async () => {
    await inTransaction(database, async (tx) => {
      await tx.db.schema
        .createTable('sample_rows')
        .addColumn('row_id', 'text', (column) => column.primaryKey())
        .addColumn('is_on', 'boolean', (column) => column.notNull())
        .addColumn('is_missing', 'boolean')
        .addColumn('byte_count', 'bigint', (column) => column.notNull())
        .addColumn('small_count', 'integer', (column) => column.notNull())
        .addColumn('note', 'text')
        .addColumn('version2', 'text')
        .execute()
      const samples = tx.db as unknown as Kysely<Samples>
      const off = { ...row, rowId: 'row-2', isOn: false, note: null }
      await samples.insertInto('sampleRows').values([row, off]).execute()
      expect(await samples.selectFrom('sampleRows').selectAll().orderBy('rowId').execute()).toEqual([
        row,
        off,
      ])
    })
  })

  test('are the same from returning, joins, aliases, counts and conditions', async () => {
    const samples = database.connection.writes as unknown as Kysely<Samples>
    await samples.transaction().execute(async (tx) => {
      const changed = await tx
        .updateTable('sampleRows')
        .set({ isOn: false, byteCount: 2 ** 53 - 1 })
        .where('isOn', '=', true)
        .returningAll()
        .executeTakeFirstOrThrow()
      expect(changed).toEqual({ ...row, isOn: false, byteCount: Number.MAX_SAFE_INTEGER })

      const joined = await tx
        .selectFrom('sampleRows as left')
        .innerJoin('sampleRows as right', 'right.smallCount', 'left.smallCount')
        .select(['left.isOn', 'right.rowId as otherRow'])
        .where('left.isOn', '=', false)
        .where('right.rowId', '=', 'row-2')
        .where('left.rowId', '=', 'row-1')
        .execute()
      expect(joined).toEqual([{ isOn: false, otherRow: 'row-2' }])

      const counted = await tx
        .selectFrom('sampleRows')
        .select((eb) => [eb.fn.countAll<number>().as('rowCount'), eb.fn.max('byteCount').as('most')])
        .executeTakeFirstOrThrow()
      expect(counted).toEqual({ rowCount: 2, most: Number.MAX_SAFE_INTEGER })
    })
  })

  test('tell how many rows a statement changed', async () => {
    const samples = database.connection.writes as unknown as Kysely<Samples>
    await samples.transaction().execute(async (tx) => {
      const { numUpdatedRows } = await tx.updateTable('sampleRows').set({ note: 'x' }).executeTakeFirst()
      expect(numUpdatedRows).toBe(2n)
      const none = await tx.deleteFrom('sampleRows').where('rowId', '=', 'row-9').executeTakeFirst()
      expect(none.numDeletedRows).toBe(0n)
    })
  })

  test('keep their meaning when one statement is run again with others', async () => {
    for (const number of [1, 2, 3]) {
      const { rows } = await sql<{ isSame: number }>`select ${number} + 0 as is_same`.execute(database.db)
      expect(rows).toEqual([{ isSame: number }])
    }
  })
})
