import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { callPlinth, environmentOf, withServer } from './plinth.ts'
import { writeRelease } from './releases.ts'

// Servers that are not ours, or not well: what the command does where it cannot publish.

/** Answers whatever it is asked; returns its address, and what it was asked for. */
async function serve(answer: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

async function publishTo(server: { url: string }, ...more: string[]) {
  const { dist } = await writeRelease({ platforms: ['linux_amd64'] })
  return callPlinth(
    ['provider', 'publish', dist, '--organization', 'acme', ...more],
    environmentOf(server, 'a-token-of-the-test'),
  )
}

test('a dry run asks no server', async () => {
  const server = await serve((_request, response) => response.end())
  const { code, stdout } = await publishTo(server, '--dry-run')
  expect(stdout).toContain('demo 1.2.3 is in order: 1 platforms, protocols 6.0.')
  expect(code).toBe(0)
  const { stdout: json } = await publishTo(server, '--dry-run', '--json')
  expect(JSON.parse(json)).toMatchObject({
    status: 'dry-run',
    name: 'demo',
    files: [{ os: 'linux', arch: 'amd64' }],
  })
  expect(server.asked).toEqual([])
})

test('a release that is not in order is told to no server', async () => {
  const server = await serve((_request, response) => response.end())
  const { dist, write } = await writeRelease({ platforms: ['linux_amd64'] })
  write('terraform-provider-demo_1.2.3_linux_amd64.zip', 'changed')
  const args = ['provider', 'publish', dist, '--organization', 'acme']
  expect((await callPlinth(args, environmentOf(server, 'a-token-of-the-test'))).code).toBe(3)
  expect(server.asked).toEqual([])
})

test('what may pass is tried again, as soon as the server wants it', async () => {
  const statuses = [429, 503, 500]
  const server = await serve((_request, response) => {
    response.writeHead(statuses.shift() ?? 403, { 'retry-after': '0' })
    response.end(
      JSON.stringify({ errors: [{ status: '403', title: 'forbidden', source: { pointer: '/data' } }] }),
    )
  })
  const { code, stderr } = await publishTo(server)
  expect(stderr.match(/trying again in 0\.0 s/g)).toHaveLength(3)
  expect(stderr).toContain('was answered 403\n  forbidden (/data)\n')
  expect(code).toBe(4)
  expect(server.asked).toHaveLength(4)
})

test('what does not pass ends as a failure of the network', async () => {
  const server = await serve((_request, response) => response.writeHead(503, { 'retry-after': '0' }).end())
  expect((await publishTo(server, '--retries', '2')).code).toBe(6)
  expect(server.asked).toHaveLength(3)
  // Nobody waits for a server that asks for an hour.
  const patient = await serve((_request, response) =>
    response.writeHead(503, { 'retry-after': '3600' }).end(),
  )
  expect((await publishTo(patient)).code).toBe(6)
  expect(patient.asked).toHaveLength(1)
})

test('pages instead of JSON are noticed', async () => {
  const server = await serve((_request, response) => response.end('<html>'))
  const { code, stderr } = await publishTo(server)
  expect(stderr).toMatch(/does not answer in JSON\n {2}Is --server the address of the registry itself\?/)
  expect(code).toBe(1)
})

test('a command line that makes no sense is refused with what would', async () => {
  const refusals: [string[], string][] = [
    [['--parallel', '0'], 'whole number of at least 1'],
    [['--server', 'ftp://example.com'], 'is not the address of a server'],
    [['--key', 'no-such-file'], 'neither a file nor the id of a key'],
    [['--version', '9.9.9'], 'holds demo 1.2.3, which is not what was asked for'],
    [['--unknown'], "unknown option '--unknown'"],
  ]
  for (const [args, message] of refusals) {
    const { code, stderr } = await publishTo({ url: 'http://127.0.0.1:9' }, ...args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
  }
  const help = await callPlinth(['provider', 'publish', '--help'], {})
  expect(help.code).toBe(0)
  expect(help.stdout).toContain('--dry-run')
})

/** A server that answers as a real one does, but for what `edit` makes of it; 404 where that is nothing. */
function passOn(server: { url: string }, edit: (text: string, path: string) => string | undefined) {
  return serve(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    const { authorization = '', 'content-type': type } = headers
    const answer = await fetch(server.url + url, {
      method,
      headers: { authorization, ...(type && { 'content-type': type }) },
      ...(method !== 'GET' && { body: await text(request) }),
    })
    const body = edit(await answer.text(), url)
    const status = body === undefined ? 404 : answer.status
    response.writeHead(status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(body)
  })
}

withServer('a server that serves something else than was published', (server) => {
  test('is found out, and that is no success', async () => {
    const { name, owner } = await server.organization()
    const { dist, keyFile } = await writeRelease({ platforms: ['linux_amd64'] })
    const other = await serve((_request, response) => response.end('something else'))
    const publishThrough = async (from: RegExp, to: string, ...more: string[]) => {
      const { url } = await passOn(server, (body, path) =>
        // What publishes stays as it is.
        /registry\/v1|well-known/.test(path) ? body.replace(from, to) : body,
      )
      const args = ['provider', 'publish', dist, '--organization', name, '--key', keyFile, '--retries', '1']
      const { code, stderr } = await callPlinth([...args, ...more], environmentOf({ url }, owner.token))
      return `${code} ${stderr.split('\n').findLast((line) => line.startsWith('plinth: '))}`
    }
    const elsewhere = (what: string) => [new RegExp(`"${what}":"[^"]*"`), `"${what}":"${other.url}"`] as const
    // The first is the one that uploads, after which archives are compared as well.
    expect(await publishThrough(...elsewhere('download_url'))).toMatch(
      /^1 .* its archive has SHA-256 \w{64}$/,
    )
    expect(await publishThrough(...elsewhere('shasums_url'))).toMatch(
      /^1 .* its list of digests is another one$/,
    )
    expect(await publishThrough(...elsewhere('shasums_signature_url'))).toMatch(/^1 .* made its signature$/)
    expect(await publishThrough(/"shasum":"\w/, '"shasum":"x')).toMatch(/^1 .* its SHA-256 is x/)
    expect(await publishThrough(/"filename":"/, '"filename":"x-')).toMatch(/^1 .* its file is x-/)
    expect(await publishThrough(/"version":"1.2.3","protocols"/, '"version":"1.2.4","protocols"')).toMatch(
      /^6 .* the registry does not list it$/,
    )
    expect(await publishThrough(/"providers.v1"/, '"none"')).toMatch(/^1 .* where its providers are$/)
  })
})

withServer('a server that has nothing of ours', (server) => {
  const OURS = [
    'status',
    'warnings',
    'deprecation',
    'revocation',
    'packages',
    'sha256',
    'docs-upload',
    'docs-shasum',
  ]

  test('is published to all the same', async () => {
    const { name, owner } = await server.organization()
    const { dist, keyFile, writeSource } = await writeRelease({ platforms: ['linux_amd64'] })
    writeSource('docs/index.md', '# Demo\n')
    const { url } = await passOn(server, (body, path) => {
      if (path.endsWith('/release-files')) return undefined
      return JSON.stringify(JSON.parse(body), (key, value) => (OURS.includes(key) ? undefined : value))
    })
    const call = async (...args: string[]) => {
      const { code, stdout } = await callPlinth(
        [...args, '--organization', name, '--json'],
        environmentOf({ url }, owner.token),
      )
      return { code, ...JSON.parse(stdout) }
    }
    expect(await call('provider', 'publish', dist, '--key', keyFile)).toMatchObject({
      code: 0,
      status: 'published',
      source: `${new URL(url).host}/${name}/demo`,
      docs: { pages: ['docs/index.md'], status: 'not-taken' },
    })
    expect((await call('provider', 'publish', dist)).status).toBe('already-published')
    expect(await call('provider', 'status', 'demo', '1.2.3')).toEqual({
      code: 0,
      name: 'demo',
      version: '1.2.3',
      status: null,
      installable: true,
      problems: [],
      files: ['SHA256SUMS', 'SHA256SUMS.sig', 'terraform-provider-demo_1.2.3_linux_amd64.zip'].map(
        (filename) => ({
          filename,
          uploaded: true,
          problems: [],
        }),
      ),
    })
    const refused = await call('provider', 'deprecate', 'demo', '1.2.3')
    expect(refused).toMatchObject({
      code: 2,
      error: { message: expect.stringContaining('knows no deprecation') },
    })
  })
})
