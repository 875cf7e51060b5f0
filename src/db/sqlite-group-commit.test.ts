import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSqlite } from './sqlite.ts'

interface Notes {
  notes: { id: number; text: string; parentId: number | null }
}

let directory: string
let path: string
let database: ReturnType<typeof openSqlite<Notes>>

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-group-'))
  path = join(directory, 'notes.db')
  database = openSqlite<Notes>(path)
  await transact((db) =>
    db.schema
      .createTable('notes')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('parentId', 'integer', (column) => column.references('notes.id'))
      .execute(),
  )
})

afterEach(async () => {
  await database.close()
  rmSync(directory, { recursive: true })
})

function transact<T>(work: (db: Kysely<Notes>) => Promise<T>): Promise<T> {
  return database.writes.transaction().execute(work)
}

function note(id: number, text = 'note', parentId: number | null = null) {
  return transact((db) => db.insertInto('notes').values({ id, text, parentId }).execute())
}

/** The ids that another process would find. */
function readIds(): number[] {
  const other = new DatabaseSync(path, { readOnly: true })
  try {
    return (other.prepare('select id from notes order by id').all() as { id: number }[]).map(({ id }) => id)
  } finally {
    other.close()
  }
}

/** Commits in the write-ahead log: the frames whose header gives the size of the database after a commit. */
function countCommits(): number {
  const log = readFileSync(`${path}-wal`)
  const frame = 24 + log.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame) if (log.readUInt32BE(at + 4) > 0) commits++
  return commits
}

const range = (length: number) => Array.from({ length }, (_, index) => index + 1)

test('transactions that arrive together share a commit', async () => {
  const before = countCommits()
  await Promise.all(range(50).map((id) => note(id)))
  expect(countCommits()).toBe(before + 1)
  expect(readIds()).toEqual(range(50))
})

test('a group has an end, so that the first in it is not kept waiting', async () => {
  const before = countCommits()
  await Promise.all(range(130).map((id) => note(id)))
  expect(countCommits()).toBe(before + 3)
  expect(readIds()).toHaveLength(130)
})

test('transactions that arrive one by one are committed one by one', async () => {
  const before = countCommits()
  for (const id of range(5)) {
    await note(id)
    expect(readIds()).toEqual(range(id))
  }
  expect(countCommits()).toBe(before + 5)
})

test('they run one after another, in the order they came', async () => {
  const events: string[] = []
  await Promise.all(
    range(5).map((id) =>
      transact(async (db) => {
        events.push(`begin ${id}`)
        await db.insertInto('notes').values({ id, text: 'slow', parentId: null }).execute()
        await sleep(2)
        events.push(`end ${id}`)
      }),
    ),
  )
  expect(events).toEqual(range(5).flatMap((id) => [`begin ${id}`, `end ${id}`]))
})

test('nobody is told of success before the commit', async () => {
  const seen = await Promise.all(range(10).map((id) => note(id).then(() => readIds().length)))
  expect(seen).toEqual(Array(10).fill(10))
})

test('one that fails takes back its own writes and nobody else’s', async () => {
  const results = await Promise.allSettled([
    note(1),
    transact(async (db) => {
      await db.insertInto('notes').values({ id: 2, text: 'gone', parentId: null }).execute()
      await db.insertInto('notes').values({ id: 1, text: 'taken', parentId: null }).execute()
    }),
    transact(async (db) => {
      await db.updateTable('notes').set({ text: 'changed' }).execute()
      throw new Error('changed my mind')
    }),
    note(3),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(readIds()).toEqual([1, 3])
  const texts = await database.reads.selectFrom('notes').select('text').execute()
  expect(texts).toEqual([{ text: 'note' }, { text: 'note' }])
})

test('when the commit fails, all that it carries fail, and the next ones succeed', async () => {
  const results = await Promise.allSettled([
    note(1),
    transact(async (db) => {
      await sql`pragma defer_foreign_keys = on`.execute(db)
      await db.insertInto('notes').values({ id: 2, text: 'orphan', parentId: 99 }).execute()
    }),
    note(3),
  ])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(results[0]).toMatchObject({ reason: { message: 'FOREIGN KEY constraint failed' } })
  expect(readIds()).toEqual([])
  await note(4)
  expect(readIds()).toEqual([4])
})

test('when the disk is full, nobody is told of success who has none, and later writes succeed', async () => {
  await sql`pragma max_page_count = 30`.execute(database.writes)
  const results = await Promise.allSettled([note(1), note(2, 'x'.repeat(500_000)), note(3)])
  expect(results[1]).toMatchObject({ status: 'rejected', reason: { code: 'insufficientStorage' } })
  const succeeded = [1, 2, 3].filter((_, index) => results[index]?.status === 'fulfilled')
  expect(readIds()).toEqual(succeeded)
  expect(succeeded).toContain(3)
  await note(4)
  expect(readIds()).toEqual([...succeeded, 4])
})

test('a transaction that the disk ended does not go on outside of it', async () => {
  await sql`pragma max_page_count = 30`.execute(database.writes)
  const stubborn = transact(async (db) => {
    const insert = (id: number, text: string) =>
      db.insertInto('notes').values({ id, text, parentId: null }).execute()
    await insert(1, 'first')
    await insert(2, 'x'.repeat(500_000)).catch(() => {})
    await insert(3, 'last')
  })
  await expect(stubborn).rejects.toMatchObject({ code: 'unavailable' })
  expect(readIds()).toEqual([])
  await note(4)
  expect(readIds()).toEqual([4])
})
