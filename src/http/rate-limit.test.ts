import type { FastifyReply } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, expectStatus, TestServer } from '../../test/harness.ts'
import { RateLimiter } from './rate-limit.ts'

const LIMIT = 5
const PATH = '/api/v2/account/details'

describe('a rate limiter', () => {
  let now = 0
  const limiter = new RateLimiter(4, () => now)

  /** The headers that one request is answered with, and whether it was admitted. */
  const ask = (address = 'a') => {
    const headers: Record<string, unknown> = {}
    const reply = {
      header: (name: string, value: unknown) => (headers[name] = value),
    } as unknown as FastifyReply
    try {
      limiter.admit(undefined, address, reply)
      return { admitted: true, headers }
    } catch {
      return { admitted: false, headers }
    }
  }

  test('admits a burst, then as many as the time that went by allows', () => {
    const burst = Array.from({ length: 4 }, () => ask())
    expect(burst.map(({ admitted }) => admitted)).toEqual([true, true, true, true])
    expect(burst.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual([3, 2, 1, 0])
    expect(ask()).toEqual({
      admitted: false,
      headers: {
        'x-ratelimit-limit': 4,
        'x-ratelimit-remaining': 0,
        'x-ratelimit-reset': '0.250',
        'retry-after': 1,
      },
    })
    now += 250
    expect([ask().admitted, ask().admitted]).toEqual([true, false])
    now += 60_000
    expect(Array.from({ length: 5 }, () => ask().admitted)).toEqual([true, true, true, true, false])
    expect(ask('b').admitted).toBe(true)
  })
})

describe('the rate limit', () => {
  const server = new TestServer('sqlite', { PLINTH_RATE_LIMIT: String(LIMIT) })
  const users: (Client & { id: string })[] = []
  const sameUser: Client[] = []
  const others: Client[] = []

  // Users are made by the administrator, who is limited too, so that is done beforehand.
  beforeAll(async () => {
    await server.start()
    await server.restart({ PLINTH_RATE_LIMIT: '0' })
    for (let n = 0; n < 3; n++) users.push(await server.user())
    const second = await (users[1] as Client).post(`/api/v2/users/${users[1]?.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: {} },
    })
    sameUser.push(server.as(expectStatus(second, 201).body.data.attributes.token))
    const organization = await server.organization()
    others.push(organization.owner, await server.teamToken(organization))
    others.push(await server.organizationToken(organization))
    await server.restart({ PLINTH_RATE_LIMIT: String(LIMIT) })
  })
  afterAll(() => server.stop())

  const burst = (clients: Client[], times: number) =>
    Promise.all(Array.from({ length: times }, (_, n) => (clients[n % clients.length] as Client).get(PATH)))

  test('refuses what is too much, in the form of all errors, and says when to come back', async () => {
    const answers = await burst([users[0] as Client], 8 * LIMIT)
    const admitted = answers.filter(({ status }) => status === 200)
    expect(admitted.length).toBeGreaterThanOrEqual(LIMIT)
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('5')
      expect(headers.get('x-ratelimit-remaining')).toMatch(/^[0-4]$/)
      expect(headers.get('x-ratelimit-reset')).toMatch(/^0\.\d{3}$/)
    }
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(refused?.headers.get('content-type')).toBe('application/vnd.api+json')
    expect(refused?.body.errors).toEqual([
      { status: '429', title: 'too many requests', detail: "You have exceeded the API's rate limit." },
    ])
  })

  test('is per user, however many tokens they have, and leaves others alone', async () => {
    const statuses = (await burst([users[1] as Client, ...sameUser], 8 * LIMIT)).map(({ status }) => status)
    expect(statuses).toContain(429)
    const other = await burst([users[2] as Client], LIMIT)
    expect(other.map(({ status }) => status)).toEqual(Array(LIMIT).fill(200))
  })

  test('counts tokens of teams and organizations for themselves', async () => {
    for (const client of others) {
      const statuses = (await burst([client], LIMIT)).map(({ status }) => status)
      expect(statuses).toEqual(Array(LIMIT).fill(200))
    }
    expect((await burst(others.slice(1, 2), 8 * LIMIT)).map(({ status }) => status)).toContain(429)
  })

  test('does not count signed links, of which a release has many', async () => {
    const link = `${server.url}/storage/provider-binary/provpltfrm-none/4102444800/none`
    const statuses = await Promise.all(
      Array.from({ length: 8 * LIMIT }, async () => {
        const answers = [await fetch(link, { method: 'PUT', body: 'x' }), await fetch(link)]
        return answers.map(({ status }) => status)
      }),
    )
    expect(new Set(statuses.flat())).toEqual(new Set([404]))
  })

  test('counts those without a valid token by their address', async () => {
    const statuses = (await burst([server.nobody, server.as('unknown')], 8 * LIMIT)).map(
      ({ status }) => status,
    )
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
  })
})
