import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Asking, isPublic, open, read } from './outside.ts'

const seen: (string | undefined)[] = []
let server: Server
let origin: string
let other: Server
let otherOrigin: string

const answers: Record<string, (response: ServerResponse) => unknown> = {
  '/file': (response) => response.end('content'),
  '/elsewhere': (response) => response.writeHead(307, { location: `${otherOrigin}/file` }).end(),
  '/here': (response) => response.writeHead(302, { location: 'file' }).end(),
  '/round': (response) => response.writeHead(302, { location: '/round' }).end(),
  '/missing': (response) => response.writeHead(404).end(),
  '/broken': (response) => response.writeHead(500).end(),
  '/forbidden': (response) => response.writeHead(403).end(),
  '/silent': () => {},
  '/stalls': (response) => response.writeHead(200).write('a'),
  '/trickles': (response) => {
    const timer = setInterval(() => response.write('a'), 20)
    response.once('close', () => clearInterval(timer))
  },
}

async function listen() {
  const made = createServer((request, response) => {
    seen.push(request.headers.authorization)
    answers[request.url ?? '']?.(response)
  })
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return made
}

const originOf = (made: Server) => `http://127.0.0.1:${(made.address() as AddressInfo).port}`

beforeAll(async () => {
  server = await listen()
  other = await listen()
  origin = originOf(server)
  otherOrigin = originOf(other)
})

afterAll(() => {
  for (const made of [server, other]) made.close().closeAllConnections()
})

const asking = (more: Partial<Asking> = {}): Asking => ({
  signal: new AbortController().signal,
  silenceMs: 150,
  isTrusted: (asked) => [origin, otherOrigin].includes(asked),
  ...more,
})

test('a file is read, also behind a redirect, with the token for its own origin only', async () => {
  const token = { origin, value: 'secret' }
  for (const path of ['/file', '/here', '/elsewhere']) {
    seen.length = 0
    const { bytes } = await read(origin + path, 100, asking({ token }))
    expect(bytes.toString()).toBe('content')
    expect(seen[0]).toBe('Bearer secret')
    if (path === '/elsewhere') expect(seen[1]).toBeUndefined()
  }
})

const refused: [path: string, failure: string, message: RegExp][] = [
  ['/missing', 'missing', /\/missing answers 404$/],
  ['/broken', 'away', /\/broken answers 500$/],
  ['/forbidden', 'refused', /\/forbidden answers 403$/],
  ['/round', 'refused', /is behind more than 5 redirects$/],
  ['/silent', 'away', /does not answer within 0\.15 seconds$/],
  ['/stalls', 'away', /does not answer within 0\.15 seconds$/],
  ['/trickles', 'away', /does not answer within 0\.15 seconds$/],
]
test.each(refused)('%s fails as %s', async (path, failure, message) => {
  await expect(read(origin + path, 100, asking())).rejects.toMatchObject({
    failure,
    message: expect.stringMatching(message),
  })
})

test('no more is read than was allowed', async () => {
  await expect(read(`${origin}/file`, 6, asking())).rejects.toMatchObject({ failure: 'refused' })
})

test('what nobody wants any more is given up', async () => {
  const ending = new AbortController()
  const { pieces } = await open(`${origin}/trickles`, asking({ signal: ending.signal }))
  const reading = (async () => {
    for await (const _ of pieces) ending.abort()
  })()
  await expect(reading).rejects.toMatchObject({ message: expect.stringContaining('wanted by nobody') })
})

test('nothing that nobody named is asked at a private address, by name or number, nor without TLS', async () => {
  const { port } = new URL(origin)
  const none = asking({ isTrusted: () => false })
  for (const host of [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0x7f000001',
    '169.254.169.254',
  ]) {
    seen.length = 0
    await expect(open(`https://${host}:${port}/file`, none)).rejects.toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('is at a private address'),
    })
    expect(seen).toEqual([])
  }
  await expect(open(`${origin}/file`, none)).rejects.toMatchObject({
    message: expect.stringMatching(/is not https$/),
  })
  const leak = `http://example.com/a?signature=x7q`
  await expect(open(leak, none)).rejects.toMatchObject({ message: 'http://example.com/a is not https' })
  await expect(open('file:///etc/passwd', none)).rejects.toMatchObject({ failure: 'refused' })
})

test('addresses of the internet are told from all others', () => {
  for (const address of ['8.8.8.8', '2606:4700::1111'])
    expect([address, isPublic(address)]).toEqual([address, true])
  const others = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'fc00::1',
    'fe80::1',
    'ff02::1',
  ]
  for (const address of others) expect([address, isPublic(address)]).toEqual([address, false])
})
