import { describe, expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { unique } from '../../test/harness.ts'
import { PageRequest } from '../lib/pagination.ts'
import { contains, isUniqueViolation, paginate, sameText } from './queries.ts'
import { inTransaction } from './transaction.ts'

onEachDatabase('queries', (database) => {
  const store = (keys: readonly string[]) =>
    inTransaction(database, async (tx) => {
      const rows = keys.map((key, size) => ({ key, size, sha256: 'none', createdAt: 'now' }))
      await tx.db.insertInto('blobs').values(rows).execute()
    })

  describe('paginate', () => {
    const prefix = unique()
    const page = (number?: string, size?: string) =>
      paginate(
        database.db
          .selectFrom('blobs')
          .select('key')
          .where('key', 'like', `${prefix}%`)
          .orderBy('size', 'desc'),
        new PageRequest(number, size),
      )

    test('gives the first page of nothing', async () => {
      expect(await page()).toEqual({ items: [], number: 1, size: 20, totalCount: 0 })
    })

    test('gives each item on one page, in order, and counts them all', async () => {
      await store(['a', 'b', 'c', 'd', 'e'].map((letter) => prefix + letter))
      const keys = (...letters: string[]) => letters.map((letter) => ({ key: prefix + letter }))
      expect(await page()).toEqual({
        items: keys('e', 'd', 'c', 'b', 'a'),
        number: 1,
        size: 20,
        totalCount: 5,
      })
      expect(await page('1', '2')).toEqual({ items: keys('e', 'd'), number: 1, size: 2, totalCount: 5 })
      expect(await page('3', '2')).toEqual({ items: keys('a'), number: 3, size: 2, totalCount: 5 })
      expect(await page('4', '2')).toEqual({ items: [], number: 4, size: 2, totalCount: 5 })
      expect((await page('999999999', '100')).items).toEqual([])
    })
  })

  describe('isUniqueViolation', () => {
    test('knows a row that exists from every other failure', async () => {
      const key = unique()
      await store([key])
      const again = await store([key]).catch((error: unknown) => error)
      expect(isUniqueViolation(again)).toBe(true)
      const nothing = await inTransaction(database, (tx) => {
        const row = { key: unique(), size: 0, sha256: null as unknown as string, createdAt: 'now' }
        return tx.db.insertInto('blobs').values(row).execute()
      }).catch((error: unknown) => error)
      expect(nothing).toBeInstanceOf(Error)
      expect(isUniqueViolation(nothing)).toBe(false)
      expect(isUniqueViolation(new Error('other'))).toBe(false)
    })
  })

  describe('text', () => {
    const prefix = unique()
    const find = async (how: typeof contains, text: string) => {
      const blobs = database.db.selectFrom('blobs').select('key').orderBy('size')
      const rows = await blobs
        .where('key', 'like', `${prefix}%`)
        .where((eb) => how(eb, 'key', text))
        .execute()
      return rows.map(({ key }) => key.slice(prefix.length))
    }

    test('is found whatever its case, and % and _ are only characters', async () => {
      await store(['Alpha', '10%', '100', 'a_b', 'axb', 'back\\slash', 'É'].map((text) => prefix + text))
      expect(await find(contains, 'ALP')).toEqual(['Alpha'])
      expect(await find(contains, '0%')).toEqual(['10%'])
      expect(await find(contains, 'A_B')).toEqual(['a_b'])
      expect(await find(contains, '\\')).toEqual(['back\\slash'])
      expect(await find(contains, 'É')).toEqual(['É'])
      expect(await find(contains, 'none')).toEqual([])
    })

    test('is the same whatever its case', async () => {
      expect(await find(sameText, `${prefix}ALPHA`)).toEqual(['Alpha'])
      expect(await find(sameText, `${prefix}alph`)).toEqual([])
      expect(await find(sameText, `${prefix}a%`)).toEqual([])
    })
  })
})
