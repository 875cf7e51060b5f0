import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '../../test/harness.ts'

describe('requests beyond the limits', () => {
  const server = new TestServer('sqlite')
  beforeAll(() => server.start())
  afterAll(() => server.stop())

  /** Sends bytes as they are; resolves with all that came back until the server hung up. */
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(server.url)
      let answer = ''
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text))
      socket
        .on('data', (chunk) => {
          answer += chunk
        })
        .on('close', () => resolve(answer))
        .on('error', reject)
    })

  test('are answered in the form of all errors', async () => {
    const cases: [string, number, string][] = [
      [
        `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(20_000)}\r\n\r\n`,
        431,
        'request header fields too large',
      ],
      ['NONSENSE\r\n\r\n', 400, 'bad request'],
    ]
    for (const [text, status, title] of cases) {
      const answer = await raw(text)
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(head).toContain('content-type: application/vnd.api+json')
      expect(JSON.parse(body).errors).toMatchObject([{ status: String(status), title }])
    }
  })

  test('have no endless addresses or queries', async () => {
    const long = await server.admin.get(`/api/v2/organizations?q=${'a'.repeat(9_000)}`)
    expect(long).toMatchObject({ status: 414, body: { errors: [{ status: '414' }] } })
    const many = await server.admin.get(`/api/v2/organizations?${'a=1&'.repeat(300)}`)
    expect(many).toMatchObject({ status: 400, body: { errors: [{ status: '400' }] } })
  })
})
