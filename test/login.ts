import { createHash, randomBytes } from 'node:crypto'
import { type Answer, expectStatus, type TestServer, type TestUser } from './harness.ts'
import { formTokenIn, userWithPassword, Visitor } from './visitor.ts'

export const REDIRECT = 'http://localhost:10003/login'

/** A command line that wants to sign in. */
export function newLogin(changes: Record<string, string | undefined> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const parameters = {
    client_id: 'terraform-cli',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: REDIRECT,
    response_type: 'code',
    state: randomBytes(16).toString('base64url'),
    ...changes,
  }
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { verifier, state: parameters.state, path: `/oauth/authorize?${new URLSearchParams(given)}` }
}

/** What the address that a browser is sent to carries. */
export const parametersOf = (answer: Answer) =>
  Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams)

/** The steps of `terraform login`, as the browser and the command line take them. */
export function loginSteps(server: TestServer) {
  const signedIn = async (): Promise<{ user: TestUser; browser: Visitor }> => {
    const user = await userWithPassword(server)
    const browser = new Visitor(server)
    expectStatus(await browser.signIn(user.username, user.password), 303)
    return { user, browser }
  }
  const approve = async (browser: Visitor, path: string) => {
    const page = expectStatus(await browser.get(path), 200)
    return browser.post(path, { 'form-token': formTokenIn(page), decision: 'approve' })
  }
  const exchange = (fields: Record<string, string>) =>
    server.nobody.send('POST', '/oauth/token', new URLSearchParams(fields).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
    })
  const grant = (code: string, verifier: string) => ({
    client_id: 'terraform-cli',
    code,
    code_verifier: verifier,
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT,
  })
  /** A code that was approved, and what redeems it. */
  const approved = async (changes: Record<string, string> = {}) => {
    const { user, browser } = await signedIn()
    const login = newLogin(changes)
    const { code = '' } = parametersOf(expectStatus(await approve(browser, login.path), 303))
    return { user, code, fields: grant(code, login.verifier) }
  }
  return { signedIn, approve, exchange, grant, approved }
}
