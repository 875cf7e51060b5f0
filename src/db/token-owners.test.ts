import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { addTokenOwners } from './migrations/0013-token-owners.ts'
import type { Db } from './transaction.ts'

const NOW = '2026-11-21T09:30:00.000Z'

async function fill(db: Db): Promise<void> {
  await sql`insert into users (id, username, email, is_site_admin, is_service_account, created_at, updated_at)
    values ('user-1', 'ada', 'ada@example.com', false, false, ${NOW}, ${NOW})`.execute(db)
  await sql`insert into tokens (id, hash, user_id, description, is_bootstrap, created_at)
    values ('at-1', 'one', 'user-1', 'laptop', false, ${NOW}), ('at-2', 'two', 'user-1', null, true, ${NOW})`.execute(
    db,
  )
  await sql`insert into sessions (id, hash, user_id, token_id, created_at, idle_at, expires_at)
    values ('s-1', 'h1', 'user-1', 'at-1', ${NOW}, ${NOW}, ${NOW}), ('s-2', 'h2', 'user-1', null, ${NOW}, ${NOW}, ${NOW})`.execute(
    db,
  )
  await sql`insert into authorization_codes
    (hash, client_id, redirect_uri, code_challenge, user_id, token_id, created_at, expires_at)
    values ('c-1', 'cli', 'http://localhost', 'x', 'user-1', 'at-1', ${NOW}, ${NOW})`.execute(db)
}

const read = async (db: Db, table: string) =>
  (await sql`select * from ${sql.table(table)} order by 1`.execute(db)).rows

onEachDatabase('more owners of tokens', (database) => {
  test('are let in without a row being lost', async () => {
    const { writes } = database.connection
    await writes.transaction().execute(fill)
    const tables = ['tokens', 'sessions', 'authorization_codes']
    const before = await Promise.all(tables.map((table) => read(database.db, table)))
    expect(before.map(({ length }) => length)).toEqual([2, 2, 1])
    await writes.transaction().execute((tx) => addTokenOwners(tx as unknown as Kysely<unknown>))
    for (const [index, table] of tables.entries()) {
      // The reader may not have noticed yet that later columns are gone.
      const after = JSON.parse(JSON.stringify(await read(database.db, table)))
      expect(before[index]).toMatchObject(after)
    }
    await writes.transaction().execute((tx) => sql`delete from tokens where id = 'at-1'`.execute(tx))
    expect(await read(database.db, 'sessions')).toMatchObject([{ id: 's-2' }])
    expect(await read(database.db, 'authorization_codes')).toMatchObject([{ hash: 'c-1', tokenId: null }])
  })

  test('are one to a token', async () => {
    const insert = (owners: string, values: string) =>
      database.connection.writes.transaction().execute((tx) =>
        sql
          .raw(`insert into tokens (id, hash, ${owners} is_bootstrap, created_at)
            values ('at-3', 'three', ${values} false, '${NOW}')`)
          .execute(tx),
      )
    await expect(insert('', '')).rejects.toThrow('tokens_one_owner')
    await expect(insert('user_id, run_id,', "'user-1', 'run-1',")).rejects.toThrow('tokens_one_owner')
  })
})
