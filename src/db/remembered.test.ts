import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { unique } from '../../test/harness.ts'
import { recordReads } from './changes.ts'
import { connect } from './connect.ts'
import { remember } from './remembered.ts'
import { type Db, type HasDatabase, inTransaction, readingHandle } from './transaction.ts'

onEachDatabase('what is remembered', (database) => {
  let asked = 0
  const find = (ctx: HasDatabase, key: string) =>
    remember(ctx, key, async (db) => {
      asked += 1
      const found = await db.selectFrom('blobs').select('size').where('key', '=', key).executeTakeFirst()
      return found?.size
    })
  const countOf = async (work: () => Promise<unknown>) => {
    const before = asked
    await work()
    return asked - before
  }
  const write = (db: Db, key: string, size: number) =>
    db
      .insertInto('blobs')
      .values({ key, size, sha256: 'none', createdAt: '2024-01-02T03:04:05.678Z' })
      .execute()
  const remove = (db: Db, key: string) => db.deleteFrom('blobs').where('key', '=', key).execute()

  test('is never older than the last commit, of this process or another', async () => {
    const key = unique()
    expect(await find(database, key)).toBeUndefined()
    await inTransaction(database, (tx) => write(tx.db, key, 1))
    expect(await find(database, key)).toBe(1)
    await inTransaction(database, (tx) => remove(tx.db, key))
    expect(await find(database, key)).toBeUndefined()

    const connection = await connect(database.location, () => {})
    const other = { connection, db: readingHandle(connection) }
    await inTransaction(other, (tx) => write(tx.db, key, 2))
    expect(await find(database, key)).toBe(2)
    await inTransaction(other, (tx) => remove(tx.db, key))
    expect(await find(database, key)).toBeUndefined()
    await connection.close()
  })

  test('is read once on the embedded database, where asking for changes costs nothing', async () => {
    const key = unique()
    await inTransaction(database, (tx) => write(tx.db, key, 1))
    await find(database, key)
    const again = database.dialect === 'sqlite' ? 0 : 1
    expect(await countOf(() => find(database, key))).toBe(again)
  })

  test('does not serve transactions, which see what they wrote', async () => {
    const key = unique()
    await inTransaction(database, (tx) => write(tx.db, key, 1))
    await find(database, key)
    await inTransaction(database, async (tx) => {
      await remove(tx.db, key)
      expect(await find(tx, key)).toBeUndefined()
    })
  })

  test('tells those who record what is read, whether it is read or remembered', async () => {
    const key = unique()
    await inTransaction(database, (tx) => write(tx.db, key, 1))
    for (const _ of ['read', 'remembered']) {
      const tables = new Set<string>()
      await recordReads(tables, () => find(database, key))
      expect([...tables]).toEqual(database.dialect === 'sqlite' ? ['blobs'] : expect.anything())
    }
  })
})
