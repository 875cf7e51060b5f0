import { type Connection, connect } from '../src/db/connect.ts'
import { type Answer, Client, expectStatus, type TestServer, type TestUser } from './harness.ts'

/** A person with a browser that knows forms and cookies, and nothing else. */
export class Visitor {
  readonly #server: TestServer
  readonly #client: Client
  readonly cookies = new Map<string, string>()

  constructor(server: TestServer) {
    this.#server = server
    this.#client = new Client(server, undefined)
  }

  async get(path: string): Promise<Answer> {
    return this.#keepCookies(await this.#client.send('GET', path, undefined, this.#headers()))
  }

  /** Posts a form as the browser would from a page of the server; `headers` override what it sends. */
  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams(fields).toString()
    const sent = {
      ...this.#headers(),
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(this.#server.url).origin,
      'sec-fetch-site': 'same-origin',
      ...headers,
    }
    return this.#keepCookies(await this.#client.send('POST', path, body, sent))
  }

  /** The token in the forms of a page. */
  async formToken(path = '/sign-in'): Promise<string> {
    return formTokenIn(expectStatus(await this.get(path), 200))
  }

  async signIn(login: string, password: string, to = '/sign-in'): Promise<Answer> {
    return this.post('/sign-in', { 'form-token': await this.formToken(), login, password, to })
  }

  async signInWithToken(token: string): Promise<Answer> {
    return this.post('/sign-in', { 'form-token': await this.formToken(), token, to: '/sign-in' })
  }

  /** Whom the server takes this browser for. */
  async signedInAs(): Promise<string | undefined> {
    return /signed in as <strong>([^<]+)</.exec((await this.get('/sign-in')).text)?.[1]
  }

  #headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return cookie ? { cookie } : {}
  }

  #keepCookies(answer: Answer): Answer {
    for (const text of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      if (/Max-Age=0(;|$)/.test(text)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }
}

export function formTokenIn({ text }: Answer): string {
  return /name="form-token" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

/** A user with a password, which a site administrator gave. */
export async function userWithPassword(server: TestServer): Promise<TestUser & { password: string }> {
  const user = await server.user()
  const password = `correct horse ${user.username}`
  const given = await server.admin.patch(`/api/v2/admin/users/${user.id}`, {
    data: { type: 'users', attributes: { password } },
  })
  expectStatus(given, 200)
  return Object.assign(user, { password })
}

/** What the server stores, for tests that look behind it or move stored times as if the clock had moved. */
export async function withDatabase<T>(
  server: TestServer,
  work: (db: Connection['writes']) => Promise<T>,
): Promise<T> {
  const { writes, close } = await connect(server.config.database, () => {})
  try {
    return await work(writes)
  } finally {
    await close()
  }
}
