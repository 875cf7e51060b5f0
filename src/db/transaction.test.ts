import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { unique } from '../../test/harness.ts'
import { afterCommit, type Db, type HasDatabase, inTransaction } from './transaction.ts'

const write = (db: Db, key: string) =>
  db
    .insertInto('blobs')
    .values({ key, size: 1, sha256: 'none', createdAt: '2024-01-02T03:04:05.678Z' })
    .execute()

const exists = async (db: Db, key: string) =>
  (await db.selectFrom('blobs').select('key').where('key', '=', key).executeTakeFirst()) !== undefined

onEachDatabase('transactions', (database) => {
  test('keep what they wrote, and return what their work returns', async () => {
    const key = unique()
    const result = await inTransaction(database, async (tx) => {
      await write(tx.db, key)
      expect(await exists(tx.db, key)).toBe(true)
      return 'done'
    })
    expect(result).toBe('done')
    expect(await exists(database.db, key)).toBe(true)
  })

  test('give the context they were given, its database replaced', async () => {
    const ctx = { db: database.db, connection: database.connection, now: () => 'now' }
    await inTransaction(ctx, async (tx) => {
      expect(tx).toEqual({ ...ctx, db: tx.db })
      expect(tx.db.isTransaction).toBe(true)
    })
  })

  test('lose everything when their work fails', async () => {
    const key = unique()
    const failure = new Error('changed my mind')
    const failed = inTransaction(database, async (tx) => {
      await write(tx.db, key)
      throw failure
    })
    await expect(failed).rejects.toBe(failure)
    expect(await exists(database.db, key)).toBe(false)
  })

  test('are invisible to others until they commit', async () => {
    const key = unique()
    let wrote = () => {}
    const written = new Promise<void>((resolve) => {
      wrote = resolve
    })
    const open = inTransaction(database, async (tx) => {
      await write(tx.db, key)
      wrote()
      await sleep(50)
    })
    await written
    expect(await exists(database.db, key)).toBe(false)
    await open
    expect(await exists(database.db, key)).toBe(true)
  })

  test('join the one that is open, and fail with it', async () => {
    const [outer, inner] = [unique(), unique()]
    const joined = inTransaction(database, async (tx) => {
      await write(tx.db, outer)
      await inTransaction(tx, async (same) => {
        expect(same).toBe(tx)
        await write(same.db, inner)
      })
      expect(await exists(tx.db, inner)).toBe(true)
      throw new Error('after the inner one')
    })
    await expect(joined).rejects.toThrow('after the inner one')
    expect(await exists(database.db, outer)).toBe(false)
    expect(await exists(database.db, inner)).toBe(false)
  })

  test('run effects in order, once they have committed', async () => {
    const key = unique()
    const seen: (string | boolean)[] = []
    await inTransaction(database, async (tx) => {
      afterCommit(async () => {
        seen.push(await exists(database.db, key))
      })
      await inTransaction(tx, async () => afterCommit(() => void seen.push('joined')))
      await write(tx.db, key)
      seen.push('work')
    })
    expect(seen).toEqual(['work', true, 'joined'])
  })

  test('run no effects when they roll back', async () => {
    let ran = false
    const failed = inTransaction(database, async () => {
      afterCommit(() => {
        ran = true
      })
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(ran).toBe(false)
  })

  test('refuse effects when none is open', () => {
    expect(() => afterCommit(() => {})).toThrow('afterCommit needs an open transaction')
  })

  test('refuse queries by the handle outside, at any depth, and only while they are open', async () => {
    const key = unique()
    const deep = async (outside: HasDatabase) => {
      await sleep(1)
      return exists(outside.db, key)
    }
    await inTransaction(database, async () => {
      await expect(deep(database)).rejects.toThrow('query outside the open transaction; use tx.db')
    })
    const nested = inTransaction(database, () => inTransaction(database, async () => 'never'))
    await expect(nested).rejects.toThrow('a transaction is open; pass its context on')
    expect(await deep(database)).toBe(false)
  })

  test('do not stand in the way of each other', async () => {
    const keys = Array.from({ length: 40 }, unique)
    await Promise.all(
      keys.map((key) =>
        inTransaction(database, async (tx) => {
          await write(tx.db, key)
          await sleep(1)
          expect(await exists(tx.db, key)).toBe(true)
        }),
      ),
    )
    for (const key of keys) expect(await exists(database.db, key)).toBe(true)
  })

  test('are needed to write to the embedded database', async () => {
    const write_ = () => write(database.db, unique())
    if (database.dialect === 'sqlite') await expect(write_()).rejects.toThrow(/readonly/)
    const begin = database.db.transaction().execute(async () => 'begun')
    if (database.dialect === 'sqlite') await expect(begin).rejects.toThrow('this handle only reads')
    else expect(await begin).toBe('begun')
  })
})
