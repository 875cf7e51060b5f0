import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { loginSteps, newLogin, parametersOf, REDIRECT } from '../../../test/login.ts'
import { formTokenIn, userWithPassword, Visitor } from '../../../test/visitor.ts'

onEachDialect('terraform login', (server) => {
  const { signedIn, approve, exchange, grant } = loginSteps(server)

  test('is announced to the command line', async () => {
    const { body: services } = await server.nobody.get('/.well-known/terraform.json')
    expect(services['login.v1']).toEqual({
      client: 'terraform-cli',
      grant_types: ['authz_code'],
      authz: '/oauth/authorize',
      token: '/oauth/token',
      ports: [10000, 10010],
    })
  })

  test('leads from signing in over approval to a token', async () => {
    const user = await userWithPassword(server)
    const browser = new Visitor(server)
    const login = newLogin()
    const first = await browser.get(login.path)
    expect(first.status).toBe(303)
    const signInPage = first.headers.get('location') ?? ''
    expect(signInPage).toBe(`/sign-in?${new URLSearchParams({ to: login.path })}`)
    const fields = { 'form-token': await browser.formToken(signInPage), to: login.path }
    const back = await browser.post('/sign-in', { ...fields, login: user.email, password: user.password })
    expect(back.headers.get('location')).toBe(login.path)

    const page = expectStatus(await browser.get(login.path), 200)
    for (const text of ['terraform-cli', 'localhost:10003', user.username, user.email]) {
      expect(page.text).toContain(text)
    }
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' http://localhost:10003;",
    )
    expect(page.headers.get('x-frame-options')).toBe('DENY')

    const answer = await approve(browser, login.path)
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toMatch(/^http:\/\/localhost:10003\/login\?/)
    const { code, ...rest } = parametersOf(answer)
    expect(rest).toEqual({ state: login.state })

    const token = await exchange(grant(code ?? '', login.verifier))
    expect(token).toMatchObject({ status: 200, body: { token_type: 'bearer' } })
    expect(Object.keys(token.body).sort()).toEqual(['access_token', 'token_type'])
    expect(token.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(token.headers.get('cache-control')).toBe('no-store')
    expect((await server.as(token.body.access_token).get('/api/v2/account/details')).body.data.id).toBe(
      user.id,
    )
    const { data } = (await user.get(`/api/v2/users/${user.id}/authentication-tokens`)).body
    expect(data.at(-1)).toMatchObject({
      attributes: { description: 'terraform login', 'expired-at': null },
      relationships: { 'created-by': { data: { id: user.id } } },
    })

    const log = server.logLines.join('')
    for (const secret of [
      code ?? '',
      login.verifier,
      token.body.access_token,
      user.password,
      ...browser.cookies.values(),
    ]) {
      expect(log).not.toContain(secret)
    }
  })

  test('ends without a token when the user denies it', async () => {
    const { browser } = await signedIn()
    const login = newLogin()
    const formToken = formTokenIn(await browser.get(login.path))
    for (const decision of ['deny', 'whatever', '']) {
      const answer = await browser.post(login.path, { 'form-token': formToken, decision })
      expect(answer.status).toBe(303)
      expect(parametersOf(answer)).toEqual({ error: 'access_denied', state: login.state })
    }
  })

  test('never leads to an address that was not agreed on', async () => {
    const { browser } = await signedIn()
    const formToken = await browser.formToken()
    for (const redirect of [
      undefined,
      '',
      'http://localhost:9999/login',
      'http://localhost:10011/login',
      'http://localhost:010003/login',
      'http://localhost:10003/login/',
      'http://localhost:10003/login?x=1',
      'http://localhost:10003/login#x',
      'http://localhost:10003/other',
      'http://localhost:10003',
      'https://localhost:10003/login',
      'http://LOCALHOST:10003/login',
      'http://evil.example:10003/login',
      'http://localhost:10003@evil.example/login',
      'http://x@localhost:10003/login',
      'http://localhost.evil.example:10003/login',
      'http://[::1]:10003/login',
      'javascript:alert(1)',
    ]) {
      const { path } = newLogin({ redirect_uri: redirect })
      for (const visitor of [browser, new Visitor(server)]) {
        const answer = await visitor.get(path)
        expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
        expect(answer.headers.get('content-type')).toContain('text/html')
      }
      const posted = await browser.post(path, { 'form-token': formToken, decision: 'approve' })
      expect([posted.status, posted.headers.get('location')]).toEqual([400, null])
    }
    const { path } = newLogin()
    const twice = `${path}&redirect_uri=${encodeURIComponent('http://localhost:10004/login')}`
    expect((await browser.get(twice)).status).toBe(400)
    for (const client of [undefined, 'another', '']) {
      expect((await browser.get(newLogin({ client_id: client }).path)).status).toBe(400)
    }
    const other = newLogin({ redirect_uri: 'http://127.0.0.1:10010/login' })
    expect((await approve(browser, other.path)).headers.get('location')).toMatch(
      /^http:\/\/127\.0\.0\.1:10010\//,
    )
  })

  test('tells the command line what is wrong with its request', async () => {
    const { browser } = await signedIn()
    const wrong: [Record<string, string | undefined>, string][] = [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ response_type: undefined }, 'invalid_request'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ code_challenge: 'short' }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge_method: undefined }, 'invalid_request'],
      [{ state: undefined }, 'invalid_request'],
      [{ state: 'x'.repeat(1025) }, 'invalid_request'],
    ]
    for (const [changes, error] of wrong) {
      const answer = await browser.get(newLogin(changes).path)
      expect(answer.status).toBe(303)
      expect(answer.headers.get('location')).toContain(`${REDIRECT}?`)
      expect(parametersOf(answer)).toMatchObject({ error, error_description: expect.any(String) })
      expect(parametersOf(answer)).not.toHaveProperty('code')
    }
  })

  test('is approved by nobody but the one who is signed in, on our page', async () => {
    const { browser } = await signedIn()
    const { path } = newLogin()
    const decision = 'approve'
    const formToken = formTokenIn(await browser.get(path))
    const stranger = new Visitor(server)
    const foreign = [
      await browser.post(path, { decision }),
      await browser.post(path, { decision, 'form-token': await stranger.formToken() }),
      await browser.post(path, { decision, 'form-token': formToken }, { origin: 'https://evil.example' }),
      await browser.post(path, { decision, 'form-token': formToken }, { 'sec-fetch-site': 'cross-site' }),
    ]
    for (const answer of foreign) {
      expect([answer.status, answer.headers.get('location')]).toEqual([403, null])
    }
    const unknown = await stranger.post(path, { decision, 'form-token': formToken })
    expect(unknown.headers.get('location')).toBe(`/sign-in?${new URLSearchParams({ to: path })}`)
    await browser.post('/sign-out', { 'form-token': formToken, to: path })
    const late = await browser.post(path, { decision, 'form-token': formToken })
    expect(late.headers.get('location')).toMatch(/^\/sign-in\?/)
    expect(server.logLines.join('')).not.toContain(formToken)
  })

  test('shows what others put into the address as text', async () => {
    const { browser } = await signedIn()
    const page = await browser.get(newLogin({ state: '"><script>alert(1)</script>' }).path)
    expect(page.status).toBe(200)
    expect(page.text).not.toContain('<script')
  })
})
