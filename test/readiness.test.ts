import { renameSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { onEachDialect } from './harness.ts'

onEachDialect('readiness', (server) => {
  test('names what is missing, and comes back with it', async () => {
    const blobs = join(server.dataDir, 'blobs')
    renameSync(blobs, `${blobs}-away`)
    const missing = await server.nobody.get('/readyz')
    expect(missing.status).toBe(503)
    expect(missing.body).toEqual({ status: 'unavailable', problems: ['blobs'] })
    expect((await server.nobody.get('/healthz')).status).toBe(200)
    renameSync(`${blobs}-away`, blobs)
    expect((await server.nobody.get('/readyz')).status).toBe(200)
  })

  if (server.dialect === 'sqlite') return

  test('needs the database, whose loss ends no process', async () => {
    const { database } = server.config
    if (database.kind !== 'postgres') throw new Error('not on PostgreSQL')
    const client = new pg.Client(inject('postgresUrl'))
    await client.connect()
    const name = new URL(database.url).pathname.slice(1)
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    await client.query(`alter database ${name} rename to ${name}_away`)
    const missing = await server.nobody.get('/readyz')
    expect(missing.status).toBe(503)
    expect(missing.body).toEqual({ status: 'unavailable', problems: ['database'] })
    expect((await server.nobody.get('/healthz')).status).toBe(200)
    await client.query(`alter database ${name}_away rename to ${name}`)
    expect((await server.nobody.get('/readyz')).status).toBe(200)
    await client.end()
  })
})
