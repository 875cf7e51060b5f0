import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { authorizeAnyone } from '../auth/authorize.ts'
import { NO_ACCESS } from '../auth/permissions.ts'
import { FileBlobStore } from '../blobs/file.ts'
import { SealedBlobs } from '../blobs/sealed.ts'
import { readConfig } from '../config/config.ts'
import type { Services } from '../context.ts'
import { connect } from '../db/connect.ts'
import { readingHandle } from '../db/transaction.ts'
import { AppError, refuse } from '../lib/errors.ts'
import { Links } from '../lib/links.ts'
import { Metrics } from '../lib/metrics.ts'
import { Type } from '../lib/type.ts'
import { Upstreams } from '../lib/upstreams.ts'
import { Vault } from '../lib/vault.ts'
import { many } from './jsonapi.ts'
import type { App, Routes } from './routes.ts'
import { input, Text } from './schema.ts'
import { createServer } from './server.ts'

/** Routes with the mistakes that the server guards against, and one without. */
const routes: Routes = (app) => {
  app.get('/forgetful', async () => ({ data: 'x7q' }))
  app.get('/careful', async ({ ctx }) => ({ data: authorizeAnyone(ctx).id }))
  app.get('/open', { config: { public: true } }, async () => ({ data: 'for everybody' }))
  app.get('/broken', async ({ ctx }) => {
    authorizeAnyone(ctx)
    throw new Error('the password is x7q')
  })
  app.get('/refusing', async () => {
    refuse([
      { detail: 'Name is odd', pointer: '/data/attributes/name' },
      { detail: 'Size is odd', parameter: 'size' },
    ])
  })
  app.get('/wrapping', async () => {
    throw new AppError('conflict', 'It is taken', { cause: new Error('x7q') })
  })
  app.get('/list', async ({ ctx, page, href }) => {
    authorizeAnyone(ctx)
    const items = [{ id: '1', type: 'things' }]
    return many({ items, number: page.number, size: page.size, totalCount: 41 }, href, (item) => item)
  })
}

describe('the server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-guards-'))
  const log: string[] = []
  let services: Services
  let app: App

  beforeAll(async () => {
    const config = readConfig({ PLINTH_DATA_DIR: directory, PLINTH_RATE_LIMIT: '0' })
    const connection = await connect(config.database, () => {})
    const sink = new Writable({
      write: (line: Buffer, _encoding, done) => {
        log.push(String(line))
        done()
      },
    })
    const vault = new Vault([Buffer.alloc(32)])
    const blobs = await FileBlobStore.open(config.blobs.path)
    services = {
      config,
      baseUrl: 'https://plinth.example.com',
      connection,
      db: readingHandle(connection),
      blobs,
      sealed: new SealedBlobs(blobs, vault),
      vault,
      links: new Links(Buffer.alloc(32), () => 'https://plinth.example.com'),
      log: pino({}, sink),
      metrics: new Metrics(),
      upstreams: new Upstreams(new Map(), new Map()),
      now: () => '2024-01-02T03:04:05.678Z',
      notReady: async () => [],
      loadSubject: async () => undefined,
      loadAccess: async () => NO_ACCESS,
    }
    app = serve(routes)
  })
  afterAll(async () => {
    await app.close()
    await services.connection.close()
    rmSync(directory, { recursive: true })
  })

  function serve(...mounted: Routes[]): App {
    return createServer({
      services,
      authenticate: async (_, token) =>
        token === 'good' ? { kind: 'user', id: 'user-1', isSiteAdmin: false, tokenId: 'at-1' } : undefined,
      routes: mounted,
    })
  }

  const get = async (url: string, token = 'good') => {
    log.length = 0
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${token}` } })
    return { status: answer.statusCode, text: answer.payload, body: answer.json() }
  }

  test('sends what a route answers once permission was asked for, or when it is public', async () => {
    expect(await get('/careful')).toMatchObject({ status: 200, body: { data: 'user-1' } })
    expect(await get('/open', 'bad')).toMatchObject({ status: 200, body: { data: 'for everybody' } })
    expect(await get('/careful', 'bad')).toMatchObject({ status: 401 })
  })

  test('keeps back a success during which nobody asked for permission', async () => {
    const { status, text } = await get('/forgetful')
    expect(status).toBe(500)
    expect(text).not.toContain('x7q')
    expect(log.join('')).toContain('GET /forgetful succeeded without authorization')
  })

  test('answers an unknown failure without detail, and logs it once with the id that it tells', async () => {
    const { status, text, body } = await get('/broken')
    expect(status).toBe(500)
    expect(text).not.toContain('x7q')
    const [error] = body.errors
    expect(error).toMatchObject({ status: '500', title: 'internal server error' })
    const [, id] = /request (req-\w+)/.exec(error.detail) ?? []
    const failures = log.filter((line) => line.includes('the password is x7q'))
    expect(failures).toHaveLength(1)
    expect(JSON.parse(failures[0] ?? '')).toMatchObject({ level: 50, requestId: id, msg: 'request failed' })
  })

  test('answers a refusal with one error for each violation, and logs no failure', async () => {
    expect((await get('/refusing')).body).toEqual({
      errors: [
        {
          status: '422',
          title: 'invalid attribute',
          detail: 'Name is odd',
          source: { pointer: '/data/attributes/name' },
        },
        { status: '422', title: 'invalid attribute', detail: 'Size is odd', source: { parameter: 'size' } },
      ],
    })
    expect(log.filter((line) => JSON.parse(line).level > 30)).toEqual([])
  })

  test('does not show the cause of a refusal', async () => {
    const { status, text } = await get('/wrapping')
    expect(status).toBe(409)
    expect(text).not.toContain('x7q')
  })

  test('keeps the form of the address in the links of a page', async () => {
    const { links } = (await get('/list?page[size]=10&q=a%26b&page%5Bnumber%5D=2')).body
    const at = (number: number) =>
      `https://plinth.example.com/list?q=a%26b&page%5Bnumber%5D=${number}&page%5Bsize%5D=10`
    expect(links).toEqual({ self: at(2), first: at(1), prev: at(1), next: at(3), last: at(5) })
  })

  test('does not start with a route that reads a body before it knows who asks', () => {
    const careless: Routes = (app) => {
      const body = input('things', Type.Object({ name: Text() }))
      app.post('/careless', { schema: { body } }, async () => ({}))
    }
    expect(() => serve(careless)).toThrow('/careless reads a body without access')
  })
})
