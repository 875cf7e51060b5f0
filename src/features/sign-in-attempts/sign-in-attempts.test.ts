import { expect, test } from 'vitest'
import { type Answer, onEachDialect, type TestServer, unique } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import { userWithPassword, Visitor, withDatabase } from '../../../test/visitor.ts'
import { sweepSessions } from '../sessions/jobs.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const rows = (server: TestServer) =>
  withDatabase(server, (db) => db.selectFrom('signInAttempts').selectAll().execute())
/** Lets every delay be over. */
const wait = (server: TestServer) =>
  withDatabase(server, (db) => db.updateTable('signInAttempts').set({ blockedUntil: PAST }).execute())
const forget = (server: TestServer) => withDatabase(server, (db) => db.deleteFrom('signInAttempts').execute())
const retryAfter = ({ headers }: Answer) => Number(headers.get('retry-after'))

/** One try after the other, as a machine makes them. */
async function tries(count: number, attempt: () => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = []
  for (let done = 0; done < count; done++) statuses.push((await attempt()).status)
  return statuses
}

onEachDialect('attempts to sign in', (server) => {
  const signIn = (login: string, password: string) => new Visitor(server).signIn(login, password)

  test('are slowed down for an account, right or wrong, known or not', async () => {
    await forget(server)
    const user = await userWithPassword(server)
    const texts: string[] = []
    for (const login of [user.username, `no-${user.username}`]) {
      expect(await tries(6, () => signIn(login, 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
      const answer = await signIn(login.toUpperCase(), user.password)
      expect(answer.status).toBe(429)
      expect(retryAfter(answer)).toBeGreaterThan(10)
      expect(retryAfter(answer)).toBeLessThanOrEqual(15)
      texts.push(answer.text.replace(/value="[^"]*"/g, '').replace(/\d+ seconds/, 'N seconds'))
    }
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).toContain('<p role="alert">Too many attempts have failed. Try again in N seconds.</p>')
    await wait(server)
    expect((await signIn(user.username, user.password)).status).toBe(303)
    expect(await tries(4, () => signIn(user.username, 'wrong'))).toEqual([401, 401, 401, 401])
  })

  test('are slowed down more and more, up to a quarter of an hour', async () => {
    await forget(server)
    const login = `guessed-${unique()}`
    await tries(5, () => signIn(login, 'wrong'))
    const delays: number[] = []
    for (let round = 0; round < 8; round++) {
      delays.push(retryAfter(await signIn(login, 'wrong')))
      await wait(server)
      expect((await signIn(login, 'wrong')).status).toBe(401)
    }
    const expected = [15, 30, 60, 120, 240, 480, 900, 900]
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeLessThanOrEqual(expected[index] as number)
      expect(delay).toBeGreaterThan((expected[index] as number) - 10)
    }
  })

  test('are slowed down for an address, whatever names and tokens it tries', async () => {
    await forget(server)
    const user = await userWithPassword(server)
    expect((await signIn(user.username, user.password)).status).toBe(303)
    const guesses = [
      () => signIn(`guess-${unique()}`, 'wrong'),
      () => new Visitor(server).signInWithToken(`guess-${unique()}`),
    ]
    for (let round = 0; round < 10; round++) {
      for (const guess of guesses) expect((await guess()).status).toBe(401)
    }
    for (const guess of guesses) expect((await guess()).status).toBe(429)
    expect((await signIn(user.username, user.password)).status).toBe(429)
    expect((await new Visitor(server).signInWithToken(user.token as string)).status).toBe(429)
    await wait(server)
    expect((await signIn(user.username, user.password)).status).toBe(303)
    expect((await signIn(user.username, 'wrong')).status).toBe(401)
    expect((await signIn(user.username, user.password)).status).toBe(429)
    await forget(server)
  })

  test('come from where they come from, whatever they say', async () => {
    await forget(server)
    const browser = new Visitor(server)
    const fields = { 'form-token': await browser.formToken(), token: 'wrong' }
    const from = (host: number) => browser.post('/sign-in', fields, { 'x-forwarded-for': `192.0.2.${host}` })
    for (let host = 0; host < 20; host++) expect((await from(host)).status).toBe(401)
    expect((await from(20)).status).toBe(429)
  })

  test('are forgotten after a day', async () => {
    await forget(server)
    const login = `guessed-${unique()}`
    await tries(5, () => signIn(login, 'wrong'))
    await withDatabase(server, (db) =>
      db.updateTable('signInAttempts').set({ blockedUntil: PAST, forgottenAt: PAST }).execute(),
    )
    expect(await tries(6, () => signIn(login, 'wrong'))).toEqual([401, 401, 401, 401, 401, 429])
    await runLater(server, sweepSessions, 0.9)
    expect(await rows(server)).not.toEqual([])
    await runLater(server, sweepSessions, 1.1)
    expect(await rows(server)).toEqual([])
  })

  test('race: of many at once no more get through than one after the other', async () => {
    await forget(server)
    const user = await userWithPassword(server)
    const browsers = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const browser = new Visitor(server)
        return { browser, token: await browser.formToken() }
      }),
    )
    const answers = await Promise.all(
      browsers.map(({ browser, token }) =>
        browser.post('/sign-in', { 'form-token': token, login: user.username, password: 'wrong' }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(7).fill(429)])
  })

  test('take as long for an unknown name as for a wrong password', async () => {
    await forget(server)
    const user = await userWithPassword(server)
    const without = await server.user()
    const browser = new Visitor(server)
    const formToken = await browser.formToken()
    const fastest = new Map<string, number>()
    for (let round = 0; round < 4; round++) {
      for (const login of [user.username, without.username, `no-${user.username}`]) {
        const start = performance.now()
        const answer = await browser.post('/sign-in', { 'form-token': formToken, login, password: 'wrong' })
        expect(answer.status).toBe(401)
        fastest.set(login, Math.min(fastest.get(login) ?? Infinity, performance.now() - start))
      }
    }
    const [known = 0, ...others] = fastest.values()
    for (const other of others) expect(other).toBeGreaterThan(known / 2)
  })

  test('are stored without what was typed', async () => {
    await forget(server)
    await signIn('a password in the wrong field', 'wrong')
    const stored = await rows(server)
    expect(stored).toHaveLength(2)
    for (const { key } of stored) expect(key).toMatch(/^[0-9a-f]{64}$/)
    await forget(server)
  })
})

onEachDialect(
  'attempts to sign in, through a proxy,',
  (server) => {
    const guessFrom = async (address: string) => {
      const browser = new Visitor(server)
      const fields = { 'form-token': await browser.formToken(), token: 'wrong' }
      return (await browser.post('/sign-in', fields, { 'x-forwarded-for': address })).status
    }

    test('count for the address that the proxy names, or for its network', async () => {
      for (const [guilty, ...accomplices] of [
        ['192.0.2.1', '::ffff:192.0.2.1', '198.51.100.7, 192.0.2.1'],
        ['2001:db8::1', '2001:db8::2', '2001:DB8:0:0:ffff:1:2:3', '2001:db8:0:0::'],
      ] as const) {
        for (let guess = 0; guess < 20; guess++) expect(await guessFrom(guilty)).toBe(401)
        for (const address of [guilty, ...accomplices])
          expect([address, await guessFrom(address)]).toEqual([address, 429])
      }
      for (const address of ['192.0.2.2', '2001:db8:0:1::1', '2001:db8:1::', '::1']) {
        expect([address, await guessFrom(address)]).toEqual([address, 401])
      }
    })
  },
  { PLINTH_TRUSTED_PROXIES: '127.0.0.1' },
)
