import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { get as httpsGet } from 'node:https'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createPostgresDatabase, DIALECTS } from './harness.ts'
import { Program, ROOT } from './program.ts'
import { testCertificates } from './tls.ts'

// The program as an operator runs it: its own process, its standard output, its signals and its exit code.

let directory: string
const started: Program[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-process-'))
})

afterEach(async () => {
  for (const program of started.splice(0)) await program.kill()
  rmSync(directory, { recursive: true, force: true })
})

type Settings = Record<string, string>

/** With a data directory of this test's. */
function run(settings: Settings = {}, command?: string[]): Program {
  const program = new Program({ PLINTH_DATA_DIR: join(directory, 'data'), ...settings }, command)
  started.push(program)
  return program
}

describe('a new server', () => {
  test('says in a few lines where it is, where the first token is, and what to try', async () => {
    const plinth = run({}, ['setsid', 'npm', 'start'])
    const url = await plinth.ready()
    const lines = plinth.stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(10)

    const token = /First admin token: (\S+)/.exec(plinth.stdout)?.[1] ?? ''
    const path = join(ROOT, token)
    expect(path).toBe(join(directory, 'data', 'admin-token'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(plinth.stdout + plinth.stderr).not.toContain(readFileSync(path, 'utf8').trim())

    const tried = spawnSync('sh', ['-c', lines.at(-1) ?? ''], { cwd: ROOT, encoding: 'utf8' })
    expect(JSON.parse(tried.stdout).data.attributes.username).toBe('admin')
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    // To npm, its shell and the server alike, as Ctrl-C is: alone, npm would leave the server behind.
    process.kill(-(plinth.process.pid as number), 'SIGINT')
    await plinth.exit()
  })

  test('is ready soon', async () => {
    const begun = performance.now()
    await run().ready()
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  test('takes the token that the operator chose, prints it nowhere and writes no file', async () => {
    const token = 'an-operator-token-x7q'
    const plinth = run({ PLINTH_ADMIN_TOKEN: token })
    const url = await plinth.ready()
    expect(plinth.stdout).toContain('First admin token: the value of PLINTH_ADMIN_TOKEN')
    expect(plinth.stdout + plinth.stderr).not.toContain('x7q')
    expect(existsSync(join(directory, 'data', 'admin-token'))).toBe(false)
    const command = plinth.stdout.trimEnd().split('\n').at(-1) ?? ''
    const env = { ...process.env, PLINTH_ADMIN_TOKEN: token }
    const tried = spawnSync('sh', ['-c', command], { cwd: ROOT, encoding: 'utf8', env })
    expect(JSON.parse(tried.stdout).data.attributes.username).toBe('admin')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('keeps its data and its token over a restart', async () => {
    const first = run()
    await first.ready()
    const token = readFileSync(join(directory, 'data', 'admin-token'), 'utf8')
    first.process.kill('SIGTERM')
    expect(await first.exit()).toBe(0)

    const url = await run().ready()
    expect(readFileSync(join(directory, 'data', 'admin-token'), 'utf8')).toBe(token)
    const answer = await fetch(`${url}/api/v2/account/details`, {
      headers: { authorization: `Bearer ${token.trim()}` },
    })
    expect(answer.status).toBe(200)
  })
})

describe.each(['SIGTERM', 'SIGINT'] as const)('on %s', (signal) => {
  test('the server finishes the request under way, refuses new ones, and ends with 0', async () => {
    const token = 'an-operator-token'
    const plinth = run({ PLINTH_ADMIN_TOKEN: token })
    const url = await plinth.ready()
    const attributes = { username: 'slow', email: 'slow@example.com' }
    const body = JSON.stringify({ data: { type: 'users', attributes } })
    const slow = httpRequest(`${url}/api/v2/admin/users`, {
      method: 'POST',
      agent: new Agent({ keepAlive: true, timeout: 20_000 }),
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/vnd.api+json',
        'content-length': body.length,
      },
    })
    const answered = once(slow, 'response')
    slow.write(body.slice(0, 10))
    await sleep(200)
    plinth.process.kill(signal)
    await sleep(200)
    expect(plinth.process.exitCode).toBeNull()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()

    slow.end(body.slice(10))
    const [response] = await answered
    expect(response.statusCode).toBe(201)
    response.resume()
    const begun = performance.now()
    expect(await plinth.exit()).toBe(0)
    expect(performance.now() - begun).toBeLessThan(3_000)
    expect(plinth.stderr).toContain(`${signal}: finishing the requests under way`)
    expect(plinth.stderr).toContain('"stopped"')
  })
})

describe('a server that cannot start', () => {
  const failing = async (settings: Settings) => {
    const plinth = run(settings)
    const code = await plinth.exit()
    return { code, stdout: plinth.stdout, stderr: plinth.stderr }
  }

  test('names every variable that is wrong, none of their values, and ends with 1', async () => {
    const { code, stdout, stderr } = await failing({
      PLINTH_LISTEN: 'x7q',
      PLINTH_DATABASE_URL: 'mysql://root:x7q@host/db',
      PLINTH_RATE_LIMIT: 'x7q',
    })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr.trimEnd().split('\n')).toEqual([
      'Plinth cannot start:',
      'PLINTH_LISTEN must be host:port, such as 127.0.0.1:8080',
      'PLINTH_DATABASE_URL must be postgres://… or sqlite:PATH',
      'PLINTH_RATE_LIMIT must be a whole number of requests per second, or 0',
    ])
  })

  test('does not show a secret that is wrong', async () => {
    const { code, stderr } = await failing({ PLINTH_ADMIN_TOKEN: 'x7q x7q' })
    expect(code).toBe(1)
    expect(stderr).toContain('PLINTH_ADMIN_TOKEN')
    expect(stderr).not.toContain('x7q')
  })

  test.each(DIALECTS)('says so at once when its address is taken (%s)', async (dialect) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const begun = performance.now()
    const { code, stderr } = await failing({
      PLINTH_LISTEN: `127.0.0.1:${port}`,
      ...(dialect === 'postgres' && { PLINTH_DATABASE_URL: await createPostgresDatabase() }),
    })
    other.close()
    expect(code).toBe(1)
    // Idle connections to the database would keep the process for ten seconds.
    expect(performance.now() - begun).toBeLessThan(8_000)
    expect(stderr).toContain('EADDRINUSE')
  })

  test('says so when its database does not answer, without the password', async () => {
    const { code, stderr } = await failing({ PLINTH_DATABASE_URL: 'postgres://me:x7q@127.0.0.1:1/db' })
    expect(code).toBe(1)
    expect(stderr).toContain('ECONNREFUSED')
    expect(stderr).not.toContain('x7q')
  })

  test('says so when its certificate cannot be read', async () => {
    const path = join(directory, 'no.pem')
    writeFileSync(path, 'not a certificate')
    const { code, stderr } = await failing({ PLINTH_TLS_CERT: path, PLINTH_TLS_KEY: path })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Plinth cannot start:/)
  })
})

test('a connection on which nothing was asked holds no server up', async () => {
  const program = run()
  const { hostname, port } = new URL(await program.ready())
  const silent = connect(Number(port), hostname).on('error', () => {})
  await once(silent, 'connect')
  const ended = once(silent, 'close')
  program.process.kill('SIGTERM')
  await ended
  expect(await program.exit()).toBe(0)
}, 15_000)

test('with a certificate and its key the server speaks HTTPS', async () => {
  const { ca, cert, key } = testCertificates()
  const url = await run({ PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key }).ready()
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
  for (const host of ['127.0.0.1', 'localhost']) {
    const address = `${url.replace('127.0.0.1', host)}/healthz`
    const [response] = await once(httpsGet(address, { ca: readFileSync(ca), family: 4 }), 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
  }
})
