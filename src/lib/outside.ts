import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { buffer } from 'node:stream/consumers'
import ipaddr from 'ipaddr.js'
import { request, requestSecurely } from './node-http.ts'

// How the server asks other servers for files whose addresses somebody else has chosen.

/** Why something cannot be had: it may be there later, it is not there, or it is not to be had this way. */
export type OutsideFailure = 'away' | 'missing' | 'refused'

/** Says, for the person who looks into it, why something cannot be had; addresses in it have no query. */
export class OutsideError extends Error {
  override name = 'OutsideError'
  readonly failure: OutsideFailure

  constructor(failure: OutsideFailure, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.failure = failure
  }
}

export interface Asking {
  signal: AbortSignal
  /** Milliseconds that the other side may be silent. */
  silenceMs: number
  /** Whether the operator named this origin, so that it may be private, and without TLS. */
  isTrusted: (origin: string) => boolean
  /** Goes to its own origin only. */
  token?: { origin: string; value: string } | undefined
}

/** An answer that has begun. */
export interface Outside {
  /** Where it came from, after redirects. */
  url: URL
  /** Bytes, where that was said. */
  length: number | undefined
  /** Throws an `OutsideError` when they end early. */
  pieces: AsyncIterable<Buffer>
  /** Gives up the rest. */
  close: () => void
}

const MAX_REDIRECTS = 5

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Opens an address. Throws an `OutsideError` for every answer but 200. */
export async function open(address: string | URL, asking: Asking): Promise<Outside> {
  let url = parse(address)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await ask(url, asking)
    const { statusCode = 0, headers } = response
    if (statusCode === 200) return outsideOf(response, url, asking)
    response.destroy()
    if (!REDIRECTS.has(statusCode) || !headers.location) throw statusError(url, statusCode)
    url = parse(headers.location, url)
  }
  throw new OutsideError('refused', `${shown(url)} is behind more than ${MAX_REDIRECTS} redirects`)
}

/** Reads a small file whole. */
export async function read(
  address: string | URL,
  maxBytes: number,
  asking: Asking,
): Promise<{ url: URL; bytes: Buffer }> {
  // What trickles in is never silent.
  const limited = {
    ...asking,
    signal: AbortSignal.any([asking.signal, AbortSignal.timeout(asking.silenceMs)]),
  }
  const answer = await open(address, limited)
  const { url, length, pieces, close } = answer
  try {
    if ((length ?? 0) > maxBytes) throw tooLarge(url, maxBytes)
    return { url, bytes: await buffer(atMost(pieces, maxBytes, url)) }
  } finally {
    close()
  }
}

async function* atMost(pieces: AsyncIterable<Buffer>, maxBytes: number, url: URL) {
  let size = 0
  for await (const piece of pieces) {
    size += piece.length
    if (size > maxBytes) throw tooLarge(url, maxBytes)
    yield piece
  }
}

function tooLarge(url: URL, maxBytes: number): OutsideError {
  return new OutsideError('refused', `${shown(url)} is larger than ${maxBytes} bytes`)
}

function parse(address: string | URL, base?: URL): URL {
  const url = URL.parse(String(address), base?.href)
  if (!url) throw new OutsideError('refused', 'an address that it names is none')
  return url
}

/** An address for logs: what may hold a secret is left out. */
export function shown({ origin, pathname }: URL): string {
  return origin + pathname
}

function statusError(url: URL, status: number): OutsideError {
  const failure =
    status === 404 || status === 410 ? 'missing' : status >= 500 || status === 429 ? 'away' : 'refused'
  return new OutsideError(failure, `${shown(url)} answers ${status}`)
}

function ask(url: URL, { signal, silenceMs, isTrusted, token }: Asking): Promise<IncomingMessage> {
  const trusted = isTrusted(url.origin)
  if (url.protocol !== 'https:' && !(trusted && url.protocol === 'http:'))
    throw new OutsideError('refused', `${shown(url)} is not https`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!trusted && isIP(host) && !isPublic(host)) throw privateAddress(url.host)
  const send = url.protocol === 'https:' ? requestSecurely : request
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = send(url, {
    // A connection that is kept may have ended on the other side by the time it is used again.
    agent: false,
    headers: {
      accept: '*/*',
      'user-agent': 'Plinth',
      ...(token?.origin === url.origin && { authorization: `Bearer ${token.value}` }),
    },
    ...(!trusted && { lookup: lookupPublic }),
  })
  const silent = setTimeout(() => outgoing.destroy(silence(url, silenceMs)), silenceMs)
  const end = () => outgoing.destroy(reasonOf(signal, url, silenceMs))
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  outgoing
    .once('response', resolve)
    .once('error', (error) => reject(error instanceof OutsideError ? error : unreachable(url, error)))
    .end()
  return promise.finally(() => {
    clearTimeout(silent)
    signal.removeEventListener('abort', end)
  })
}

function outsideOf(response: IncomingMessage, url: URL, { signal, silenceMs }: Asking): Outside {
  const length = response.headers['content-length']
  const close = () => response.destroy()
  response.setTimeout(silenceMs, () => response.destroy(silence(url, silenceMs)))
  const end = () => response.destroy(reasonOf(signal, url, silenceMs))
  signal.addEventListener('abort', end, { once: true })
  response.once('close', () => signal.removeEventListener('abort', end))
  if (signal.aborted) end()
  return {
    url,
    length: length === undefined ? undefined : Number(length),
    pieces: piecesOf(response, url),
    close,
  }
}

async function* piecesOf(response: IncomingMessage, url: URL): AsyncGenerator<Buffer> {
  try {
    yield* response
  } catch (error) {
    if (error instanceof OutsideError) throw error
    throw new OutsideError('away', `${shown(url)} ended early`, { cause: error })
  }
}

function reasonOf({ reason }: AbortSignal, url: URL, silenceMs: number): OutsideError {
  if (reason?.name === 'TimeoutError') return silence(url, silenceMs)
  return new OutsideError('away', `${shown(url)} is wanted by nobody any more`, { cause: reason })
}

function silence(url: URL, silenceMs: number): OutsideError {
  return new OutsideError('away', `${shown(url)} does not answer within ${silenceMs / 1000} seconds`)
}

function unreachable(url: URL, error: Error): OutsideError {
  if (error instanceof PrivateAddress) return privateAddress(url.host)
  const { code = error.name } = error as NodeJS.ErrnoException
  return new OutsideError('away', `${shown(url)} cannot be reached (${code})`, { cause: error })
}

function privateAddress(host: string): OutsideError {
  return new OutsideError(
    'refused',
    `${host} is at a private address, where only hosts of PLINTH_MIRROR_UPSTREAMS are asked`,
  )
}

class PrivateAddress extends Error {
  override name = 'PrivateAddress'
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** Looks a name up as the connection will use it: a second look-up could find something else. */
function lookupPublic(host: string, options: LookupOptions, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error || !first) return found(error ?? new Error('no address'), [])
    if (!addresses.every(({ address }) => isPublic(address))) return found(new PrivateAddress(host), [])
    if (options.all) return found(null, addresses)
    return found(null, first.address, first.family)
  })
}

/** What is routed on the internet today. */
const INTERNET_6 = ipaddr.parseCIDR('2000::/3')

/** Whether an address is one of the internet, and neither private nor reserved, nor a way around that. */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(INTERNET_6)
}
