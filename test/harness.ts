import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { type RunningServer, start } from '../src/app.ts'
import { type Config, readConfig } from '../src/config/config.ts'
import { readSecrets } from '../src/config/secrets.ts'
import { watchAnswers } from './answers.ts'
import { createDatabase, onDatabase } from './postgres.ts'

export const MEDIA_TYPE = 'application/vnd.api+json'

/** An answer, read whole. `body` is parsed when it is JSON. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any
}

/** Speaks HTTP to a server as the owner of one token, or as nobody. */
export class Client {
  readonly #server: { url: string }
  readonly token: string | undefined

  constructor(server: { url: string }, token: string | undefined) {
    this.#server = server
    this.token = token
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path)
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.send('POST', path, body)
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.send('PATCH', path, body)
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', path, body)
  }

  /** Sends a JSON:API body, or a string as it is; `headers` override what is sent by default. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(path.startsWith('http') ? path : this.#server.url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'content-type': MEDIA_TYPE }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
}

export type TestUser = Client & { id: string; username: string; email: string }

export type TestMember = TestUser & { membershipId: string; teamId: string | undefined }

/** An organization of a test's own, so that nothing has to be cleaned up. */
export interface TestOrganization {
  name: string
  /** `/api/v2/organizations/<name>` */
  path: string
  owner: TestUser
}

/** A server in this process, with a database and a data directory of its own. */
export class TestServer {
  readonly dialect: Dialect
  #settings: Record<string, string>
  readonly #directory = mkdtempSync(join(tmpdir(), 'plinth-test-'))
  readonly #adminToken = `admin-token-${randomUUID()}`
  #running: RunningServer | undefined
  #databaseUrl: string | undefined
  /** Every line the server logged. */
  readonly logLines: string[] = []
  /** Answers that are not as the documentation of their route says. */
  readonly undocumented = new Set<string>()
  config!: Config

  constructor(dialect: Dialect, settings: Record<string, string> = {}) {
    this.dialect = dialect
    this.#settings = settings
  }

  get url(): string {
    if (!this.#running) throw new Error('the server is not running')
    return this.#running.url
  }

  get dataDir(): string {
    return this.#directory
  }

  async start(): Promise<void> {
    const environment = {
      PATH: process.env['PATH'],
      PLINTH_LISTEN: '127.0.0.1:0',
      PLINTH_DATA_DIR: this.#directory,
      PLINTH_RATE_LIMIT: '0',
      // Looking for the engine takes a while; tests that carry out runs say so.
      PLINTH_RUN_WORKERS: '0',
      PLINTH_ADMIN_TOKEN: this.#adminToken,
      ...(this.dialect === 'postgres' && { PLINTH_DATABASE_URL: await this.#postgresUrl() }),
      ...this.#settings,
    }
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.logLines.push(chunk.toString())
        done()
      },
    })
    this.config = readConfig(environment)
    this.#running = await start(
      this.config,
      readSecrets(environment, this.#directory),
      pino({}, sink),
      watchAnswers((problem) => this.undocumented.add(problem)),
    )
  }

  /** Fails when an answer was not as documented, so that no test has to look. */
  async stop(): Promise<void> {
    await this.#running?.stop()
    this.#running = undefined
    rmSync(this.#directory, { recursive: true, force: true })
    if (this.undocumented.size > 0)
      throw new Error(`not as documented:\n${[...this.undocumented].join('\n')}`)
  }

  /** Stops and starts the server on the same data, with `settings` beside or in place of those it had. */
  async restart(settings: Record<string, string> = {}): Promise<void> {
    await this.#running?.stop()
    this.#settings = { ...this.#settings, ...settings }
    await this.start()
  }

  async #postgresUrl(): Promise<string> {
    const url = inject('postgresUrl') as string
    // Copied with its schema: making that takes longer than most tests.
    this.#databaseUrl ??= onDatabase(url, await createDatabase(url, inject('postgresTemplate')))
    return this.#databaseUrl
  }

  get nobody(): Client {
    return new Client(this, undefined)
  }

  get admin(): Client {
    return new Client(this, this.#adminToken)
  }

  as(token: string): Client {
    return new Client(this, token)
  }

  /** A new user with a token, in no organization: a stranger to every one of them. */
  async user(): Promise<TestUser> {
    const username = `user-${unique()}`
    const email = `${username}@example.com`
    const created = await this.admin.post('/api/v2/admin/users', {
      data: { type: 'users', attributes: { username, email } },
    })
    const { id } = expectStatus(created, 201).body.data
    const token = await this.admin.post(`/api/v2/users/${id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'test' } },
    })
    const { token: secret } = expectStatus(token, 201).body.data.attributes
    return Object.assign(this.as(secret), { id, username, email })
  }

  /** A new member of an organization, in a new team with `grants` (such as `manage-teams`) if there are any. */
  async member({ path, owner }: TestOrganization, grants: readonly string[] = []): Promise<TestMember> {
    const user = await this.user()
    const teamId = grants.length > 0 ? await this.team({ path, owner }, grants) : undefined
    const relationships = { teams: { data: teamId ? [{ id: teamId, type: 'teams' }] : [] } }
    const membership = await owner.post(`${path}/organization-memberships`, {
      data: { type: 'organization-memberships', attributes: { email: user.email }, relationships },
    })
    const { id: membershipId } = expectStatus(membership, 201).body.data
    return Object.assign(user, { membershipId, teamId })
  }

  /** The id of a new secret team with `grants`. */
  async team(
    { path, owner }: Omit<TestOrganization, 'name'>,
    grants: readonly string[] = [],
  ): Promise<string> {
    const access = Object.fromEntries(grants.map((grant) => [grant, true]))
    const created = await owner.post(`${path}/teams`, {
      data: { type: 'teams', attributes: { name: `team-${unique()}`, 'organization-access': access } },
    })
    return expectStatus(created, 201).body.data.id
  }

  /** Speaks with a token of a new team with `grants`. */
  async teamToken(organization: TestOrganization, grants: readonly string[] = []): Promise<Client> {
    const id = await this.team(organization, grants)
    const created = await organization.owner.post(`/api/v2/teams/${id}/authentication-token`)
    return this.as(expectStatus(created, 201).body.data.attributes.token)
  }

  /** Speaks with the organization's token. */
  async organizationToken({ path, owner }: TestOrganization): Promise<Client> {
    const created = await owner.post(`${path}/authentication-token`)
    return this.as(expectStatus(created, 201).body.data.attributes.token)
  }

  /** A new organization and the user who owns it. */
  async organization(name = `org-${unique()}`): Promise<TestOrganization> {
    const owner = await this.user()
    const created = await owner.post('/api/v2/organizations', {
      data: { type: 'organizations', attributes: { name, email: 'owner@example.com' } },
    })
    expectStatus(created, 201)
    return { name, path: `/api/v2/organizations/${name}`, owner }
  }
}

export type Dialect = 'sqlite' | 'postgres'

export const DIALECTS: readonly Dialect[] =
  process.env['PLINTH_TEST_DIALECTS'] === 'sqlite' ? ['sqlite'] : ['sqlite', 'postgres']

/** The address of a new database on the PostgreSQL of this run: empty, as an operator makes it. */
export async function createPostgresDatabase(): Promise<string> {
  const url = inject('postgresUrl') as string
  return onDatabase(url, await createDatabase(url))
}

/** Declares the same tests for each database; the server runs while they do. */
export function onEachDialect(
  name: string,
  declare: (server: TestServer) => void,
  settings: Record<string, string> = {},
): void {
  describe.each(DIALECTS)(`${name} on %s`, (dialect) => {
    const server = new TestServer(dialect, settings)
    beforeAll(() => server.start())
    afterAll(() => server.stop())
    declare(server)
  })
}

/** A short text that no other test uses. */
export function unique(): string {
  return randomUUID().slice(0, 13).replace('-', '')
}

/** The answer, if it has the status; an error that shows the body otherwise. For steps that are not the point. */
export function expectStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`)
  return answer
}

/** `pointer` and `detail` of each error of an answer, in order of the pointers. */
export function violations(answer: Answer): { pointer: string | undefined; detail: string }[] {
  return (answer.body.errors as { detail: string; source?: { pointer?: string } }[])
    .map(({ detail, source }) => ({ pointer: source?.pointer, detail }))
    .sort((a, b) => String(a.pointer).localeCompare(String(b.pointer)))
}

/** The pointers of an answer's errors, sorted. */
export function pointers(answer: Answer): (string | undefined)[] {
  return violations(answer).map(({ pointer }) => pointer)
}
