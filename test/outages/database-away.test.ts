import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  DIALECTS,
  expectStatus,
  type TestOrganization,
  TestServer,
  type TestUser,
  unique,
} from '../harness.ts'
import { hasPostgres, NEEDS_POSTGRES, PostgresCluster } from '../postgres-cluster.ts'
import { addKey, createProvider, createVersion, makeKey, put } from '../registry.ts'
import { document } from '../resources.ts'

const CLIENTS = 4

/** Milliseconds in which the server has to be itself again. */
const RECOVERY_MS = 5_000

const PAST = '2020-01-01T00:00:00.000Z'

const keyBody = (key: string) => document('reserved-tag-keys', { key, 'disable-overrides': false })

function expectUnavailable(answer: Answer | undefined, detail: string): void {
  expect(answer).toMatchObject({
    status: 503,
    body: { errors: [{ status: '503', title: 'service unavailable', detail }] },
  })
  expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0)
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + RECOVERY_MS; performance.now() < end; await sleep(20)) {
    if (await holds()) return
  }
  throw new Error(`not within ${RECOVERY_MS} ms: ${holds}`)
}

const AWAY = 'The database does not answer. Try again in a few seconds.'

describe.skipIf(!DIALECTS.includes('postgres') || !hasPostgres())('while PostgreSQL is away', () => {
  let cluster: PostgresCluster
  let server: TestServer
  let organization: TestOrganization

  beforeAll(async () => {
    cluster = await PostgresCluster.create()
    server = new TestServer('postgres', { PLINTH_DATABASE_URL: cluster.url })
    await server.start()
    organization = await server.organization()
  })
  afterAll(async () => {
    await server.stop()
    await cluster.remove()
  })

  const options = DIALECTS.includes('postgres') ? { meta: { needs: NEEDS_POSTGRES } } : {}

  test.each(['SIGQUIT', 'SIGKILL'] as const)(
    'by %s, requests get 503, and afterwards all is well by itself',
    options,
    async (signal) => {
      const { owner, path } = organization
      const upload = await prepareUpload(organization)
      const traffic = new Traffic(owner, `${path}/reserved-tag-keys`)
      await traffic.until((statuses) => statuses.filter((status) => status === 201).length >= CLIENTS)

      await cluster.stop(signal)
      const ready = await server.nobody.get('/readyz')
      expect([ready.status, ready.body]).toEqual([503, { status: 'unavailable', problems: ['database'] }])
      expect((await server.nobody.get('/healthz')).status).toBe(200)
      expectUnavailable(await owner.get('/api/v2/account/details'), AWAY)
      expectUnavailable(await owner.post(`${path}/reserved-tag-keys`, keyBody(unique())), AWAY)
      expectUnavailable(await put(upload.link, upload.bytes), AWAY)
      expect(listStaged(server)).toEqual([])
      const before = traffic.statuses.length
      await traffic.until((statuses) => statuses.slice(before).includes(503))

      await cluster.start()
      await eventually(async () => (await owner.get('/api/v2/account/details')).status === 200)
      await eventually(async () => (await server.nobody.get('/readyz')).status === 200)
      await traffic.stop()
      expect([...new Set(traffic.statuses)].toSorted()).toEqual([201, 503])
      const names = await listKeys(owner, path)
      expect(traffic.acknowledged.filter((key) => !names.includes(key))).toEqual([])
      expect((await put(upload.link, upload.bytes)).status).toBe(200)
      await expectWorkGoesOn(cluster.url)
      expect(server.logLines.filter((line) => JSON.parse(line).level > 40)).toEqual([])
    },
  )
})

/** Clients that write one key after another, whatever they are answered. */
class Traffic {
  readonly statuses: number[] = []
  readonly acknowledged: string[] = []
  readonly #clients: Promise<void>[]
  #isOver = false

  constructor(owner: TestUser, collection: string) {
    this.#clients = Array.from({ length: CLIENTS }, async () => {
      while (!this.#isOver) {
        const key = `key-${unique()}`
        const { status } = await owner.post(collection, keyBody(key))
        this.statuses.push(status)
        if (status === 201) this.acknowledged.push(key)
        await sleep(5)
      }
    })
  }

  async until(holds: (statuses: readonly number[]) => boolean): Promise<void> {
    await eventually(async () => holds(this.statuses))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#clients)
  }
}

async function prepareUpload(organization: TestOrganization) {
  const path = await createProvider(organization, `demo-${unique()}`)
  const key = await addKey(organization, await makeKey())
  const { links } = await createVersion(organization.owner, path, '1.0.0', key)
  return { link: links['shasums-upload'] as string, bytes: `${'0'.repeat(64)}  some.zip\n` }
}

async function listKeys(owner: TestUser, path: string): Promise<string[]> {
  const names: string[] = []
  for (let page: number | null = 1; page; ) {
    const { body }: Answer = await owner.get(`${path}/reserved-tag-keys?page[size]=100&page[number]=${page}`)
    names.push(...body.data.map((one: { attributes: { key: string } }) => one.attributes.key))
    page = body.meta.pagination['next-page']
  }
  return names
}

function listStaged(server: TestServer): string[] {
  const staging = join(server.dataDir, 'blobs', '.staging')
  return readdirSync(staging).flatMap((name) => readdirSync(join(staging, name)))
}

/** Jobs that are due are taken up by the server that was there all the time. */
async function expectWorkGoesOn(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('update jobs set run_at = $1', [PAST])
  await eventually(async () => {
    const { rows } = await client.query('select 1 from jobs where run_at = $1', [PAST])
    return rows.length === 0
  })
  await client.end()
}

describe('while another process holds the lock of the SQLite file', () => {
  const server = new TestServer('sqlite')
  let organization: TestOrganization

  beforeAll(async () => {
    await server.start()
    organization = await server.organization()
  })
  afterAll(() => server.stop())

  test('writes wait for it, and get 503 when that takes too long; everything else goes on', async () => {
    const { owner, path } = organization
    const post = () => owner.post(`${path}/reserved-tag-keys`, keyBody(unique()))
    const other = new DatabaseSync(join(server.dataDir, 'plinth.db'))
    other.exec('begin immediate')
    const patient = post()
    await sleep(100)
    const begun = performance.now()
    expectStatus(await owner.get('/api/v2/account/details'), 200)
    expectStatus(await server.nobody.get('/readyz'), 200)
    expect(performance.now() - begun).toBeLessThan(2_000)
    other.exec('rollback')
    expectStatus(await patient, 201)

    other.exec('begin immediate')
    const answers = await Promise.all([post(), post(), post()])
    const locked = 'The database is locked by another process. Try again in a few seconds.'
    for (const answer of answers) expectUnavailable(answer, locked)
    expect(performance.now() - begun).toBeLessThan(15_000)
    other.exec('rollback')
    other.close()
    expectStatus(await post(), 201)
    expect((await owner.get(`${path}/reserved-tag-keys`)).body.data).toHaveLength(2)
  })
})
