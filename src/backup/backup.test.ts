import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { TestDatabase } from '../../test/databases.ts'
import {
  DIALECTS,
  type Dialect,
  expectStatus,
  type TestOrganization,
  TestServer,
  unique,
} from '../../test/harness.ts'
import { publish } from '../../test/registry.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import { FileBlobStore } from '../blobs/file.ts'
import { readVaultKeys } from '../config/secrets.ts'
import { listFilled, TABLES } from '../db/rows.ts'
import { Vault } from '../lib/vault.ts'
import { backup, type Data, type Source } from './backup.ts'
import { restore } from './restore.ts'

const directory = mkdtempSync(join(tmpdir(), 'plinth-backup-'))
afterAll(() => rmSync(directory, { recursive: true }))

const newFile = () => join(directory, `${unique()}.tar`)

async function dataOf(server: TestServer): Promise<Source> {
  return {
    database: server.config.database,
    blobs: await FileBlobStore.open(server.config.blobs.path),
    secretKeyFile: join(server.dataDir, 'secret-key'),
    vault: () => new Vault(readVaultKeys({}, server.dataDir)),
  }
}

/** An empty database and an empty directory. */
async function nowhere(dialect: Dialect) {
  const database = new TestDatabase(dialect)
  await database.open()
  const home = mkdtempSync(join(directory, 'home-'))
  const data: Data = {
    database: database.location,
    blobs: await FileBlobStore.open(join(home, 'blobs')),
    secretKeyFile: join(home, 'secret-key'),
  }
  const settings = {
    PLINTH_DATA_DIR: home,
    PLINTH_DATABASE_URL:
      database.location.kind === 'sqlite' ? `sqlite:${database.location.path}` : database.location.url,
  }
  return { database, home, data, settings }
}

async function whatIsLeft({ database, data, home }: Awaited<ReturnType<typeof nowhere>>) {
  const keys: string[] = []
  for await (const { key } of data.blobs.list()) keys.push(key)
  const staging = readdirSync(join(home, 'blobs', '.staging'), { recursive: true, withFileTypes: true })
  return {
    tables: await listFilled(database.connection.reads),
    keys,
    staged: staging.filter((entry) => entry.isFile()).length,
    hasKey: existsSync(join(home, 'secret-key')),
  }
}

const NOTHING = { tables: [], keys: [], staged: 0, hasKey: false }

/** Downloads of a release as the CLI finds them. */
async function download(server: TestServer, token: string | undefined, organization: string, name: string) {
  const path = `/api/registry/v1/providers/${organization}/${name}/1.0.0/download/linux/amd64`
  const { body } = expectStatus(await server.as(token as string).get(path), 200)
  const response = await fetch(body.download_url)
  return Buffer.from(await response.arrayBuffer())
}

/** Creates and publishes one thing after the other until it is told to stop; returns the ids of the workspaces. */
function keepWriting(organization: TestOrganization): () => Promise<string[]> {
  const ids: string[] = []
  let isOver = false
  const create = async () => {
    while (!isOver) {
      const body = { data: { type: 'workspaces', attributes: { name: `workspace-${unique()}` } } }
      const answer = await organization.owner.post(`${organization.path}/workspaces`, body)
      ids.push(expectStatus(answer, 201).body.data.id)
    }
  }
  const release = async () => {
    while (!isOver) await publish(organization, `provider-${unique()}`, '1.0.0')
  }
  const work = Promise.all([create(), release()])
  return async () => {
    isOver = true
    await work
    return ids
  }
}

describe.each(DIALECTS)('a backup of %s', (from) => {
  test.each(DIALECTS)('made while others write is restored into %s, and the server goes on', async (to) => {
    const server = new TestServer(from)
    await server.start()
    const target = await nowhere(to)
    const restored = new TestServer(to, target.settings)
    try {
      const organization = await server.organization()
      const { name, path, owner } = organization
      const release = await publish(organization, 'before', '1.0.0')
      const team = await server.teamToken(organization, ['manage-workspaces'])
      const member = await server.member(organization)

      const busy = await server.organization()
      const stopWriting = keepWriting(busy)
      const meanwhile = await publish(busy, 'meanwhile', '1.0.0')
      const file = newFile()
      const written = await backup(await dataOf(server), file, new Date())
      await publish(busy, 'afterwards', '1.0.0')
      const ids = await stopWriting()
      expect(statSync(file).mode & 0o777).toBe(0o600)

      expect(await restore(target.data, file)).toEqual(written)
      expect(readFileSync(join(target.home, 'secret-key'))).toEqual(
        readFileSync(join(server.dataDir, 'secret-key')),
      )
      await restored.start()
      for (const { token } of [owner, team, member]) {
        for (const address of [
          path,
          `${path}/projects`,
          '/api/v2/account/details',
          release.path,
          `${path}/registry-log`,
        ]) {
          const before = await server.as(token as string).get(address)
          const after = await restored.as(token as string).get(address)
          expect(after.status).toBe(before.status)
          expect(after.text.replaceAll(restored.url, '')).toBe(before.text.replaceAll(server.url, ''))
        }
      }
      expect(await download(restored, owner.token, name, 'before')).toEqual(
        release.archives.get('linux_amd64'),
      )
      expect(await download(restored, busy.owner.token, busy.name, 'meanwhile')).toEqual(
        meanwhile.archives.get('linux_amd64'),
      )

      // Of one moment: the workspaces that were made first, and none that were made afterwards.
      const heir = restored.as(busy.owner.token as string)
      const { body } = await heir.get(`${busy.path}/workspaces?page[size]=100`)
      const there = (body.data as { id: string }[]).map(({ id }) => id)
      expect(there.length).toBeLessThan(ids.length)
      expect(there.sort()).toEqual(ids.slice(0, there.length).sort())
      const { status } = await heir.get(`${busy.path}/registry-providers/private/${busy.name}/afterwards`)
      expect(status).toBe(404)
      const added = { data: { type: 'workspaces', attributes: { name: 'added' } } }
      expectStatus(await heir.post(`${busy.path}/workspaces`, added), 201)
    } finally {
      await restored.stop()
      await target.database.close()
      await server.stop()
    }
  })
})

describe.each(DIALECTS)('on %s', (dialect) => {
  const server = new TestServer(dialect)
  let file: string
  let source: Source

  test('a small backup is made', async () => {
    await server.start()
    await publish(await server.organization(), 'small', '1.0.0')
    file = newFile()
    source = await dataOf(server)
    expect(await backup(source, file, new Date())).toMatchObject({ blobs: 4 })
  })
  afterAll(() => server.stop())

  test('every table is in it', async () => {
    const target = await nowhere(dialect)
    const { rows } = await (dialect === 'postgres'
      ? sql<{
          name: string
        }>`select table_name as name from information_schema.tables where table_schema = 'public'`
      : sql<{
          name: string
        }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`
    ).execute(target.database.connection.reads)
    const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    expect([...TABLES.map(snake), 'migrations'].sort()).toEqual(rows.map(({ name }) => name).sort())
    await target.database.close()
  })

  test('a backup is not restored over anything; what is in the way is named', async () => {
    await expect(restore(source, file)).rejects.toThrow(
      /into nothing, and there is already:\nrows of the table users\n(.*\n)*the file .* among the blobs\nthe key .*secret-key/,
    )
  })

  test.each([
    [
      'truncated within a file',
      (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
      'it is truncated or damaged',
    ],
    [
      'truncated before the digests',
      (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf('SHA256SUMS')),
      'truncated',
    ],
    ['truncated to nothing', () => Buffer.alloc(0), 'truncated'],
    ['not a tar file', () => Buffer.alloc(4096, 'text'), 'Invalid tar header'],
    [
      'with another row',
      (bytes: Buffer) => replaceIn(bytes, '"small"', '"smaLl"'),
      'its files are not as SHA256SUMS says',
    ],
    [
      'with a file that is not as its row says',
      (bytes: Buffer) => replaceIn(bytes, '  terraform-provider-small', '  terraform-provider-smaLl'),
      'is damaged: its SHA-256 is',
    ],
    [
      'of other tables',
      (bytes: Buffer) => replaceIn(bytes, '0001-accounts', '9001-accounts'),
      'whose tables are different',
    ],
  ])('a backup %s leaves nothing behind', async (_case, damage, reason) => {
    const damaged = newFile()
    writeFileSync(damaged, damage(readFileSync(file)))
    const target = await nowhere(dialect)
    await expect(restore(target.data, damaged)).rejects.toThrow(new RegExp(`cannot be restored: .*${reason}`))
    expect(await whatIsLeft(target)).toEqual(NOTHING)
    expect(await restore(target.data, file)).toMatchObject({ blobs: 4 })
    await target.database.close()
  })

  test.each([
    ['is missing', () => Promise.reject(missing()), 'cannot be read: no such file'],
    ['is not what it was', (bytes: Buffer) => Promise.resolve(Buffer.alloc(bytes.length)), 'is damaged'],
    ['is not as long as it was', (bytes: Buffer) => Promise.resolve(bytes.subarray(1)), 'cannot be read'],
  ])('a file that %s is named, and no backup is left', async (_case, change, message) => {
    const blobs = reading(source.blobs, async (key) =>
      Readable.from([await change(await buffer(await source.blobs.read(key)))]),
    )
    const target = newFile()
    await expect(backup({ ...source, blobs }, target, new Date())).rejects.toThrow(
      new RegExp(`^the file \\S+ ${message}`),
    )
    expect([target, `${target}.partial`].filter(existsSync)).toEqual([])
  })

  test('a file deleted meanwhile makes the backup begin anew, of a later moment', async () => {
    const organization = await server.organization()
    const release = await publish(organization, 'short', '1.0.0')
    let deleted = 0
    const blobs = reading(source.blobs, async (key) => {
      if (deleted++ === 0) expectStatus(await organization.owner.delete(release.path), 204)
      return source.blobs.read(key)
    })
    const target = newFile()
    expect(await backup({ ...source, blobs }, target, new Date())).toMatchObject({ blobs: 4 })
    const text = readFileSync(target, 'latin1')
    expect(text).toContain('"namespace":null,"name":"small"')
    expect(text).not.toContain('"namespace":null,"name":"short"')
  })
})

const missing = () => Object.assign(new Error('no such file'), { code: 'ENOENT' })

/** The same store, read in another way. */
function reading(blobs: BlobStore, read: BlobStore['read']): BlobStore {
  const others = { list: () => blobs.list(), size: (key: string) => blobs.size(key) }
  return Object.assign(Object.create(blobs), { ...others, read })
}

/** Other bytes of the same length: the file stays a tar file. */
function replaceIn(bytes: Buffer, text: string, other: string): Buffer {
  const at = bytes.indexOf(text)
  if (at < 0) throw new Error(`there is no ${text}`)
  const changed = Buffer.from(bytes)
  changed.write(other, at)
  return changed
}
