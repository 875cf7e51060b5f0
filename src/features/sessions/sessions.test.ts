import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { beforeAll, expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import { testCertificates } from '../../../test/tls.ts'
import { formTokenIn, userWithPassword, Visitor, withDatabase } from '../../../test/visitor.ts'
import { sweepSessions } from './jobs.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const body = (attributes: object) => ({ data: { type: 'users', attributes } })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
const hash = (secret: string) => createHash('sha256').update(secret).digest('hex')

onEachDialect('sessions', (server) => {
  const visitor = () => new Visitor(server)
  const secretOf = ({ cookies }: Visitor) => cookies.get('plinth-session') ?? ''
  const signedIn = async () => {
    const user = await userWithPassword(server)
    const browser = visitor()
    expect((await browser.signIn(user.username, user.password)).status).toBe(303)
    return { user, browser }
  }
  const stored = (browser: Visitor) =>
    withDatabase(server, (db) => {
      const sessions = db
        .selectFrom('sessions')
        .selectAll()
        .where('hash', '=', hash(secretOf(browser)))
      return sessions.executeTakeFirst()
    })
  /** Moves the end of a session. */
  const move = (browser: Visitor, column: 'idleAt' | 'expiresAt', moment: string) =>
    withDatabase(server, async (db) => {
      // What never changes in the program is not in the type, either.
      const change = { [column]: moment } as { idleAt: string }
      await db
        .updateTable('sessions')
        .set(change)
        .where('hash', '=', hash(secretOf(browser)))
        .execute()
    })

  test('are opened with the name or the address and the password, whatever their case', async () => {
    const user = await userWithPassword(server)
    for (const login of [user.username, user.email, user.username.toUpperCase(), ` ${user.email} `]) {
      const browser = visitor()
      const answer = await browser.signIn(login, user.password, '/oauth/authorize?x=1')
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toBe('/oauth/authorize?x=1')
      expect(await browser.signedInAs()).toBe(user.username)
    }
  })

  test('are kept in a cookie that scripts and other sites do not get', async () => {
    const user = await userWithPassword(server)
    const cookies = (await visitor().signIn(user.username, user.password)).headers.getSetCookie()
    expect(cookies).toEqual([
      expect.stringMatching(
        /^plinth-session=plinth_\w{44}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1209600$/,
      ),
      expect.stringMatching(/^plinth-visitor=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/),
    ])
  })

  test('are opened with the token of a user, and end with it', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const token = async (attributes: object) => {
      const created = await user.post(url, { data: { type: 'authentication-tokens', attributes } })
      return created.body.data
    }
    const first = await token({})
    const browser = visitor()
    expect((await browser.signInWithToken(first.attributes.token)).status).toBe(303)
    expect(await browser.signedInAs()).toBe(user.username)
    await user.delete(`/api/v2/authentication-tokens/${first.id}`)
    expect(await browser.signedInAs()).toBeUndefined()

    const short = await token({ 'expired-at': new Date(Date.now() + 1500).toISOString() })
    expect((await browser.signInWithToken(short.attributes.token)).status).toBe(303)
    await expect.poll(() => browser.signedInAs(), { timeout: 5000 }).toBeUndefined()
  })

  test('are not opened with what is wrong, and nobody learns which names exist', async () => {
    const user = await userWithPassword(server)
    const without = await server.user()
    const organization = await server.organization()
    const teamToken = (await server.teamToken(organization)).token as string
    const texts = new Set<string>()
    const tries = [
      (browser: Visitor) => browser.signIn(user.username, `${user.password}x`),
      (browser: Visitor) => browser.signIn(user.username, ''),
      (browser: Visitor) => browser.signIn(user.username, 'x'.repeat(5000)),
      (browser: Visitor) => browser.signIn(`no-${user.username}`, user.password),
      (browser: Visitor) => browser.signIn(without.username, 'no password was ever set'),
      (browser: Visitor) => browser.signIn('', ''),
      (browser: Visitor) => browser.signInWithToken('plinth_wrong'),
      (browser: Visitor) => browser.signInWithToken(teamToken),
      (browser: Visitor) => browser.signInWithToken(''),
    ]
    for (const attempt of tries) {
      const browser = visitor()
      const answer = await attempt(browser)
      expect(answer.status).toBe(401)
      expect(secretOf(browser)).toBe('')
      texts.add(answer.text.replace(/value="[^"]*"/g, ''))
    }
    expect(texts.size).toBe(1)
    expect([...texts][0]).toContain('<p role="alert">That is not right.')
  })

  test('end on signing out, when idle, after two weeks, and with the password', async () => {
    const { user, browser } = await signedIn()
    const copy = visitor()
    copy.cookies.set('plinth-session', secretOf(browser))
    expect(await copy.signedInAs()).toBe(user.username)
    const out = { 'form-token': await browser.formToken(), to: '/sign-in' }
    const answer = await browser.post('/sign-out', out)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in'])
    expect([secretOf(browser), await copy.signedInAs()]).toEqual(['', undefined])

    for (const column of ['idleAt', 'expiresAt'] as const) {
      await browser.signIn(user.username, user.password)
      expect(await browser.signedInAs()).toBe(user.username)
      await move(browser, column, PAST)
      expect(await browser.signedInAs()).toBeUndefined()
    }

    await browser.signIn(user.username, user.password)
    const changed = {
      current_password: user.password,
      password: 'another horse',
      password_confirmation: 'another horse',
    }
    expect((await user.patch('/api/v2/account/password', body(changed))).status).toBe(200)
    expect(await browser.signedInAs()).toBeUndefined()
    expect((await browser.signIn(user.username, user.password)).status).toBe(401)
    await browser.signIn(user.username, 'another horse')
    const reset = body({ password: 'a third horse' })
    expect((await server.admin.patch(`/api/v2/admin/users/${user.id}`, reset)).status).toBe(200)
    expect(await browser.signedInAs()).toBeUndefined()
  })

  test('stay open while they are used', async () => {
    const { user, browser } = await signedIn()
    await move(browser, 'idleAt', inSeconds(60))
    expect(await browser.signedInAs()).toBe(user.username)
    const idleAt = (await stored(browser))?.idleAt ?? ''
    expect(idleAt > inSeconds(23.9 * 3600)).toBe(true)
    expect(await browser.signedInAs()).toBe(user.username)
    expect((await stored(browser))?.idleAt).toBe(idleAt)
  })

  test('are swept away when they have ended', async () => {
    const { browser } = await signedIn()
    const { browser: idle } = await signedIn()
    const { browser: old } = await signedIn()
    await move(idle, 'idleAt', PAST)
    await move(old, 'expiresAt', PAST)
    await runLater(server, sweepSessions, 0)
    const left = await Promise.all([browser, idle, old].map(async (each) => !!(await stored(each))))
    expect(left).toEqual([true, false, false])
  })

  test('die with their user', async () => {
    const { user, browser } = await signedIn()
    expect((await server.admin.delete(`/api/v2/admin/users/${user.id}`)).status).toBe(204)
    expect(await browser.signedInAs()).toBeUndefined()
  })

  test('are no substitute for a token', async () => {
    const { browser } = await signedIn()
    expect((await browser.get('/api/v2/account/details')).status).toBe(401)
  })

  test('are neither opened nor ended by forms of other sites', async () => {
    const { user, browser } = await signedIn()
    const token = await browser.formToken()
    const foreign: [Record<string, string>, Record<string, string>][] = [
      [{}, {}],
      [{ 'form-token': '' }, {}],
      [{ 'form-token': `${token}x` }, {}],
      [{ 'form-token': await visitor().formToken() }, {}],
      [{ 'form-token': token }, { origin: 'https://evil.example' }],
      [{ 'form-token': token }, { origin: 'null' }],
      [{ 'form-token': token }, { origin: '' }],
      [{ 'form-token': token }, { 'sec-fetch-site': 'same-site' }],
      [{ 'form-token': token }, { 'sec-fetch-site': 'cross-site' }],
    ]
    for (const [fields, headers] of foreign) {
      const answer = await browser.post('/sign-out', fields, headers)
      expect(answer.status).toBe(403)
      expect(answer.text).toContain('This form is no longer valid.')
      const fresh = visitor()
      const given = fields['form-token'] === token ? { 'form-token': await fresh.formToken() } : fields
      const entry = { ...given, login: user.username, password: user.password }
      expect((await fresh.post('/sign-in', entry, headers)).status).toBe(403)
      expect(secretOf(fresh)).toBe('')
    }
    expect(await browser.signedInAs()).toBe(user.username)
  })

  test('never lead elsewhere', async () => {
    const user = await userWithPassword(server)
    for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '/a\tb', 'sign-in', '']) {
      const browser = visitor()
      const answer = await browser.signIn(user.username, user.password, to)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in'])
      const again = await browser.get(`/sign-in?${new URLSearchParams({ to })}`)
      expect(again.text).toContain('You are signed in as')
      expect((await browser.get(`/sign-in?to=/a&${new URLSearchParams({ to })}`)).status).toBe(200)
    }
  })

  test('take forms only, and small ones', async () => {
    const browser = visitor()
    const fields = { 'form-token': await browser.formToken(), login: 'x', password: 'x' }
    expect((await browser.post('/sign-in', fields, { 'content-type': 'application/json' })).status).toBe(415)
    expect((await browser.post('/sign-in', { ...fields, password: 'x'.repeat(20_000) })).status).toBe(413)
  })

  test('are shown on pages that nothing can be added to', async () => {
    const hostile = '"><script>alert(1)</script>'
    const browser = visitor()
    const answer = await browser.signIn(hostile, 'wrong')
    expect(answer.text).not.toContain('<script')
    expect(answer.text).toContain('&#34;&#62;&#60;script&#62;')
    for (const page of [answer, await browser.get('/sign-in'), await browser.post('/sign-in', {})]) {
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const policy = page.headers.get('content-security-policy') ?? ''
      const [, digest] = /style-src 'sha256-([^']+)'/.exec(policy) ?? []
      const [, style = ''] = /<style>([^<]*)<\/style>/.exec(page.text) ?? []
      expect(digest).toBe(createHash('sha256').update(style).digest('base64'))
      expect(policy).toMatch(
        /^default-src 'none'; .*form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      )
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
      expect(page.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('leave no secret in the log', async () => {
    const { user, browser } = await signedIn()
    const secret = secretOf(browser)
    const formToken = formTokenIn(await browser.get('/sign-in'))
    await visitor().signIn(user.username, 'a wrong password')
    const log = server.logLines.join('')
    for (const text of [user.password, 'a wrong password', secret, formToken]) expect(log).not.toContain(text)
    expect(log).toContain(`"subject":"user:${user.id}"`)
  })
})

const { ca, cert, key } = testCertificates()

onEachDialect(
  'sessions over HTTPS',
  (server) => {
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })

    test('are kept in cookies that only HTTPS and this host can set', async () => {
      const user = await userWithPassword(server)
      const browser = new Visitor(server)
      const answer = await browser.signIn(user.username, user.password)
      expect(answer.headers.getSetCookie()[0]).toMatch(
        /^__Host-plinth-session=\w+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=1209600$/,
      )
      expect(await browser.signedInAs()).toBe(user.username)
    })
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
