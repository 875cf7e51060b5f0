import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, expectStatus, TestServer } from '../../test/harness.ts'

const LIMIT = 5
const PATH = '/api/v2/account/details'

describe('the rate limit', () => {
  const server = new TestServer('sqlite', { PLINTH_RATE_LIMIT: String(LIMIT) })
  beforeAll(() => server.start())
  afterAll(() => server.stop())

  /** Users are made by the administrator, who is limited too. */
  async function newUser() {
    await nextSecond()
    return server.user()
  }

  /** The beginning of the next second as the server counts it. */
  async function nextSecond() {
    const { headers } = await server.nobody.get('/healthz')
    await sleep(Number(headers.get('x-ratelimit-reset')) * 1000 + 5)
  }

  const get = async (client: Client, times: number) =>
    (await Promise.all(Array.from({ length: times }, () => client.get(PATH)))).map(({ status }) => status)

  test('lets so many requests pass in a second, and says how many are left', async () => {
    const user = await newUser()
    await nextSecond()
    const answers = []
    for (let n = 0; n < LIMIT; n++) answers.push(await user.get(PATH))
    expect(answers.map(({ status }) => status)).toEqual(Array(LIMIT).fill(200))
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual([
      '4',
      '3',
      '2',
      '1',
      '0',
    ])
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('5')
      expect(headers.get('x-ratelimit-reset')).toMatch(/^[01]\.\d{3}$/)
    }

    const refused = expectStatus(await user.get(PATH), 429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(refused.headers.get('content-type')).toBe('application/vnd.api+json')
    expect(refused.body.errors).toEqual([
      { status: '429', title: 'too many requests', detail: "You have exceeded the API's rate limit." },
    ])

    await nextSecond()
    expectStatus(await user.get(PATH), 200)
  })

  test('is per user, however many tokens they have, and leaves others alone', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const second = await user.post(`/api/v2/users/${user.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: {} },
    })
    const sameUser = server.as(expectStatus(second, 201).body.data.attributes.token)
    await nextSecond()
    expect(await get(user, LIMIT)).toEqual(Array(LIMIT).fill(200))
    expect(await get(sameUser, 2)).toEqual([429, 429])
    expect(await get(other, LIMIT)).toEqual(Array(LIMIT).fill(200))
  })

  test('counts those without a valid token by their address', async () => {
    await nextSecond()
    const statuses = [...(await get(server.nobody, LIMIT - 1)), ...(await get(server.as('unknown'), LIMIT))]
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(LIMIT)
    expect(statuses).toContain(429)
  })
})
