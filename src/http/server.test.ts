import { request as send } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Answer, expectStatus, onEachDialect, unique } from '../../test/harness.ts'

const TYPE = 'application/vnd.api+json'
const ORGANIZATION = { data: { type: 'organizations', attributes: { name: '?' } } }

const errors = (answer: Answer) => ({ status: answer.status, errors: answer.body?.errors })

onEachDialect('the server', (server) => {
  describe('answers', () => {
    test('are JSON:API, with exactly its media type and the headers that clients read', async () => {
      const { owner, path } = await server.organization()
      const { status, headers } = await owner.get(path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe(TYPE)
      expect(headers.get('tfp-api-version')).toMatch(/^2\.\d+$/)
      expect(headers.get('tfp-appname')).toBe('Plinth')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    })

    test('without a body have no media type', async () => {
      const { headers, text } = expectStatus(await server.nobody.get('/api/v2/ping'), 204)
      expect(headers.get('content-type')).toBeNull()
      expect(text).toBe('')
    })

    test.each(['/', '/api', '/api/v2/nothing/here', '/%00'])(
      'to the unknown address %s are 404 in JSON:API, token or not',
      async (path) => {
        for (const client of [server.nobody, await server.user()]) {
          const answer = await client.get(path)
          expect(answer.status).toBe(404)
          expect(answer.headers.get('content-type')).toBe(TYPE)
          expect(answer.body.errors).toEqual([
            { status: '404', title: 'not found', detail: expect.any(String) },
          ])
        }
      },
    )

    test('are the same with and without a slash at the end', async () => {
      const { owner, path } = await server.organization()
      expect((await owner.get(`${path}/`)).body).toEqual((await owner.get(path)).body)
    })

    test('to an address that is not encoded as it must be are no failure of the server', async () => {
      const answer = await server.nobody.get('/api/v2/organizations/%zz')
      expect(answer.status).toBe(400)
      expect(answer.body.errors).toHaveLength(1)
    })
  })

  describe('checks come in order', () => {
    test('token, existence and right, media type, JSON, attributes', async () => {
      const { owner, path } = await server.organization()
      const stranger = await server.user()
      const text = { 'content-type': 'text/plain' }
      const status = async (answer: Promise<Answer>) => (await answer).status
      expect(await status(server.nobody.send('PATCH', path, 'x', text))).toBe(401)
      expect(await status(server.as('wrong').send('PATCH', path, 'x', text))).toBe(401)
      expect(await status(stranger.send('PATCH', path, 'x', text))).toBe(404)
      expect(await status(owner.send('PATCH', '/api/v2/organizations/none', 'x', text))).toBe(404)
      expect(await status(owner.send('PATCH', path, 'x', text))).toBe(415)
      expect(await status(owner.send('PATCH', path, '{}', { 'content-type': 'application/json' }))).toBe(415)
      expect(await status(owner.send('PATCH', path, '{ "data": '))).toBe(400)
      expect(await status(owner.patch(path, ORGANIZATION))).toBe(422)
    })

    test('a missing, unknown or malformed token is 401 in JSON:API', async () => {
      for (const headers of [
        {},
        { authorization: 'Bearer none' },
        { authorization: 'Basic YTpi' },
        { authorization: 'Bearer' },
      ]) {
        const answer = await server.nobody.send('GET', '/api/v2/organizations/none', undefined, headers)
        expect(errors(answer)).toEqual({
          status: 401,
          errors: [{ status: '401', title: 'unauthorized', detail: 'A valid token is required.' }],
        })
      }
    })

    test('a body may be empty where a client sends its media type only', async () => {
      const { owner, path } = await server.organization()
      const answer = await owner.send('DELETE', path, undefined, { 'content-type': TYPE })
      expect(answer.status).toBe(204)
    })

    test('a media type may carry parameters', async () => {
      const { owner, path } = await server.organization()
      const body = JSON.stringify({ data: { type: 'organizations', attributes: {} } })
      const answer = await owner.send('PATCH', path, body, { 'content-type': `${TYPE}; charset=utf-8` })
      expect(answer.status).toBe(200)
    })

    test('what would change the prototype of an object is not JSON for us', async () => {
      const { owner, path } = await server.organization()
      const answer = await owner.send('PATCH', path, '{ "__proto__": { "isAdmin": true } }')
      expect(answer.status).toBe(400)
    })

    test('a NUL is in no text, wherever it comes', async () => {
      const { owner, path } = await server.organization()
      const body = { data: { type: 'workspaces', attributes: { name: 'a', description: 'with \0' } } }
      const answers = [
        await owner.post(`${path}/workspaces`, body),
        await owner.get(`${path}/workspaces?search[name]=a%00`),
      ]
      for (const answer of answers)
        expect([answer.status, answer.body.errors[0].detail]).toEqual([400, expect.stringContaining('NUL')])
      expect((await owner.get('/api/v2/organizations/a%00b')).status).toBe(404)
      const harmless = { data: { type: 'workspaces', attributes: { name: 'a', description: '\\u0000' } } }
      expect((await owner.post(`${path}/workspaces`, harmless)).status).toBe(201)
    })

    test('a body that is too large is 413, announced or not', async () => {
      const { owner, path } = await server.organization()
      const large = JSON.stringify({
        data: { type: 'organizations', attributes: { name: 'x'.repeat(2 << 20) } },
      })
      const announced = await owner.send('PATCH', path, large)
      expect(errors(announced)).toEqual({
        status: 413,
        errors: [{ status: '413', title: 'content too large', detail: expect.stringContaining('1048576') }],
      })
      const streamed = await stream(path, owner.token ?? '', large)
      expect(streamed).toBe(413)
    })

    /** The status of a PATCH whose length is not announced. */
    function stream(path: string, token: string, body: string): Promise<number | undefined> {
      return new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${token}`,
          'content-type': TYPE,
          'transfer-encoding': 'chunked',
        }
        const request = send(server.url + path, { method: 'PATCH', headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        request.on('error', reject)
        request.end(body)
      })
    }
  })

  describe('a client that waits for 100 Continue', () => {
    /** What the server says, and whether the body was asked for. */
    function ask(path: string, token: string | undefined, body: string) {
      return new Promise<{ status: number | undefined; continued: boolean }>((resolve, reject) => {
        let continued = false
        const request = send(server.url + path, {
          method: 'POST',
          headers: {
            ...(token && { authorization: `Bearer ${token}` }),
            'content-type': TYPE,
            'content-length': Buffer.byteLength(body),
            expect: '100-continue',
          },
        })
        request.on('continue', () => {
          continued = true
          request.end(body)
        })
        request.on('response', (response) => {
          response.resume()
          resolve({ status: response.statusCode, continued })
          request.destroy()
        })
        request.on('error', reject)
        request.flushHeaders()
      })
    }

    test('is told to go on when its request is in order', async () => {
      const owner = await server.user()
      const attributes = { name: `org-${unique()}`, email: 'a@example.com' }
      const body = JSON.stringify({ data: { type: 'organizations', attributes } })
      expect(await ask('/api/v2/organizations', owner.token, body)).toEqual({ status: 201, continued: true })
    })

    test('is refused without having sent its body', async () => {
      expect(await ask('/api/v2/organizations', undefined, '{}')).toEqual({ status: 401, continued: false })
      const { path } = await server.organization()
      const stranger = await server.user()
      expect(await ask(`${path}/reserved-tag-keys`, stranger.token, '{}')).toEqual({
        status: 404,
        continued: false,
      })
    })
  })

  describe('the log', () => {
    /** The line of a request, and everything that was logged since `from`. */
    async function readLog(from: number, find: (line: Record<string, unknown>) => boolean) {
      for (let tries = 0; tries < 100; tries++) {
        const lines = server.logLines.slice(from)
        const line = lines.map((text) => JSON.parse(text)).find(find)
        if (line) return { line, text: lines.join('') }
        await sleep(10)
      }
      throw new Error('nothing was logged')
    }

    test('has one line for a request: who, what, how it ended, and its id', async () => {
      const { owner, path, name } = await server.organization()
      const from = server.logLines.length
      await owner.get(`${path}?secret=query-x7q`)
      const { line, text } = await readLog(from, (line) => line['path'] === path)
      expect(line).toMatchObject({
        requestId: expect.stringMatching(/^req-/),
        method: 'GET',
        route: '/api/v2/organizations/:organization_name',
        path: `/api/v2/organizations/${name}`,
        status: 200,
        milliseconds: expect.any(Number),
        address: '127.0.0.1',
        subject: `user:${owner.id}`,
      })
      expect(text).not.toContain('x7q')
      expect(text).not.toContain(owner.token)
    })

    test('has no token, known or unknown, and no body', async () => {
      const from = server.logLines.length
      const path = `/api/v2/organizations/org-${unique()}`
      await server.as('unknown-token-x7q').send('PATCH', path, '{ "password-x7q": 1 }')
      const { line, text } = await readLog(from, (line) => line['path'] === path)
      expect(line['status']).toBe(401)
      expect(text).not.toContain('x7q')
    })

    test('has no signed link', async () => {
      const from = server.logLines.length
      await server.nobody.get('/storage/provider-binaries/id/1704164705/signature-x7q')
      await server.nobody.get('/storage/provider-binaries/id/1704164705/signature-x7q/file.zip')
      await server.nobody.get('/storage/no-such-kind/id/1704164705/signature-x7q')
      await sleep(50)
      const text = server.logLines.slice(from).join('')
      expect(text).toContain('"status":404')
      expect(text).not.toContain('signature-x7q')
    })
  })

  test('what is not HTTP at all is answered, and harms nobody', async () => {
    const { port } = new URL(server.url)
    const answer = await new Promise<string>((resolve) => {
      const socket = connectSocket(Number(port), '127.0.0.1', () => socket.end('hello there\r\n\r\n'))
      socket.on('data', (data) => resolve(String(data)))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expectStatus(await server.nobody.get('/healthz'), 200)
  })

  test('health and readiness need no token', async () => {
    expect((await server.nobody.get('/healthz')).body).toEqual({ status: 'ok' })
    expect((await server.nobody.get('/readyz')).body).toEqual({ status: 'ok', problems: [] })
  })
})
