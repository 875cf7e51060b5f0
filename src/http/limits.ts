import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { AppError, FAILURES, type FailureCode } from '../lib/errors.ts'
import { failure, MEDIA_TYPE } from './jsonapi.ts'
import type { App } from './routes.ts'

/** Largest JSON body; state and archives travel by signed links instead. */
export const MAX_BODY_BYTES = 1 << 20

const MAX_URL_LENGTH = 8_192
const MAX_QUERY_PARAMETERS = 200

/** How long the head of a request may take to arrive. */
const HEAD_TIMEOUT_MS = 20_000

/** How long a JSON body may take to arrive. */
const BODY_TIMEOUT_MS = 30_000

/** How long a connection may be silent, uploads included. */
export const IDLE_TIMEOUT_MS = 60_000

/** Keeps clients that are slow or large on purpose from holding what others need. */
export function limitRequests(app: App): void {
  app.server.headersTimeout = HEAD_TIMEOUT_MS
  app.server.requestTimeout = 0
  app.addHook('onRequest', async (request) => refuseLongAddress(request))
  app.addHook('preParsing', async ({ raw, routeOptions }) => {
    const { signedLink, largeBody } = routeOptions.config
    if (signedLink || largeBody || !hasBody(raw)) return
    const timer = setTimeout(() => raw.complete || raw.destroy(), BODY_TIMEOUT_MS).unref()
    for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer))
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function refuseLongAddress({ url }: FastifyRequest): void {
  if (url.length > MAX_URL_LENGTH) {
    throw new AppError('uriTooLong', `The address is longer than ${MAX_URL_LENGTH} characters.`)
  }
  const parameters = url.split('&').length
  if (parameters > MAX_QUERY_PARAMETERS) {
    throw new AppError('badRequest', `The query has more than ${MAX_QUERY_PARAMETERS} parameters.`)
  }
}

const REFUSALS: Record<string, { code: FailureCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'headersTooLarge', detail: 'The headers are larger than 16 kB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'requestTimeout', detail: 'The request took too long to arrive.' },
}

/** Answers what never became a request, in the form of all errors, and hangs up. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { code, detail } = REFUSALS[error.code ?? ''] ?? {
    code: 'badRequest',
    detail: 'This is not an HTTP request.',
  }
  const body = JSON.stringify(failure(new AppError(code, detail)))
  socket.end(
    [
      `HTTP/1.1 ${FAILURES[code].status} ${FAILURES[code].title}`,
      `content-type: ${MEDIA_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
