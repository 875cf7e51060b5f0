import { type Kysely, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { onEachDatabase, type TestDatabase } from '../../test/databases.ts'
import { createPostgresDatabase, DIALECTS } from '../../test/harness.ts'
import { connect } from './connect.ts'
import type { Db } from './transaction.ts'

interface Applied {
  name: string
  appliedAt: string
}

async function readHistory(db: Db): Promise<Applied[]> {
  return (await sql<Applied>`select name, applied_at from migrations order by name`.execute(db)).rows
}

async function readTables(db: Db, dialect: string): Promise<string[]> {
  const { rows } = await (dialect === 'postgres'
    ? sql<{
        name: string
      }>`select table_name as name from information_schema.tables where table_schema = 'public'`
    : sql<{ name: string }>`select name from sqlite_schema where type = 'table'`
  ).execute(db)
  return rows.map(({ name }) => name).sort()
}

const ignore = () => {}

onEachDatabase('migrations', (database: TestDatabase) => {
  test('make every table of a new database, and are written down', async () => {
    const history = await readHistory(database.db)
    expect(history.map(({ name }) => name)).toContain('0001-accounts')
    expect(history.map(({ name }) => name)).toEqual(history.map(({ name }) => name).sort())
    for (const { appliedAt } of history) expect(appliedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
    expect(await readTables(database.db, database.dialect)).toEqual(
      expect.arrayContaining(['migrations', 'blobs', 'organizations', 'users']),
    )
  })

  test('run once', async () => {
    const before = await readHistory(database.db)
    const again = await connect(database.location, ignore)
    expect(await readHistory(again.reads)).toEqual(before)
    await again.close()
  })

  test('refuse a database that a newer Plinth has migrated', async () => {
    await database.connection.writes.transaction().execute(async (tx) => {
      const migrations = tx as unknown as Kysely<{ migrations: Applied }>
      await migrations.insertInto('migrations').values({ name: '9999-future', appliedAt: 'later' }).execute()
    })
    await expect(connect(database.location, ignore)).rejects.toThrow(
      'the database was migrated by a newer Plinth (9999-future); upgrade this server',
    )
  })
})

describe.runIf(DIALECTS.includes('postgres'))('servers that start together on one new database', () => {
  test('wait for each other, and all find it migrated', async () => {
    const url = await createPostgresDatabase()
    const connections = await Promise.all(
      Array.from({ length: 4 }, () => connect({ kind: 'postgres', url }, ignore)),
    )
    const histories = await Promise.all(connections.map(({ reads }) => readHistory(reads)))
    expect(histories[0]?.length).toBeGreaterThan(2)
    for (const history of histories) expect(history).toEqual(histories[0])
    for (const connection of connections) await connection.close()
  })
})
