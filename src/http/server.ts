import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Subject } from '../auth/subject.ts'
import type { Ctx, Services } from '../context.ts'
import { AppError, FAILURES, notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { PageRequest } from '../lib/pagination.ts'
import { failure, MEDIA_TYPE } from './jsonapi.ts'
import { answerBrokenRequest, IDLE_TIMEOUT_MS, limitRequests, MAX_BODY_BYTES } from './limits.ts'
import { RateLimiter } from './rate-limit.ts'
import { logRequest } from './request-log.ts'
import { ResponseCache } from './response-cache.ts'
import type { App, PathParams, Routes } from './routes.ts'
import { serveFromCache } from './serve-from-cache.ts'
import { validatorCompiler } from './validation.ts'

export interface ServerOptions {
  services: Services
  /** The subject of a bearer token; undefined when it is unknown or has expired. */
  authenticate: (services: Services, token: string) => Promise<Subject | undefined>
  routes: readonly Routes[]
}

/** Builds the HTTP server: the order of checks, the JSON:API forms, and one log line per request. */
export function createServer({ services, authenticate, routes }: ServerOptions): App {
  const { config } = services
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    clientErrorHandler: answerBrokenRequest,
    connectionTimeout: IDLE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // An address that cannot be decoded comes to no route and passes no hook.
    frameworkErrors: (error, request, reply) => {
      prepare(services, request)
      return answer(error, request, reply)
    },
    genReqId: () => newId('req'),
    logger: false,
    trustProxy: config.trustedProxies.length > 0 && config.trustedProxies,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 512 },
    ...(config.tls && { https: { cert: readFileSync(config.tls.cert), key: readFileSync(config.tls.key) } }),
  }) as unknown as App
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler((error: FastifyError | AppError, request, reply) => answer(error, request, reply))
  app.setNotFoundHandler(async () => {
    throw new AppError('notFound', 'There is no such address.')
  })
  parseBodies(app)
  continueLate(app)
  closeAfterLastAnswer(app)
  const cache = new ResponseCache(services.connection.changes)

  const limiter = new RateLimiter(config.rateLimit)
  for (const name of ['ctx', 'path', 'page', 'href'] as const) app.decorateRequest(name)
  app.addHook('onRequest', async (request, reply) => {
    prepare(services, request)
    const { config: route } = request.routeOptions
    reply.type(MEDIA_TYPE).headers(API_HEADERS)
    const token = bearer(request.headers.authorization)
    if (token && !route.public) request.ctx.subject = await authenticate(services, token)
    const isAgent = route.agents && request.ctx.subject?.kind === 'agent'
    if (!route.signedLink && !isAgent) limiter.admit(request.ctx.subject, request.ip, reply)
    if (route.public || request.is404) return
    if (!request.ctx.subject) throw new AppError('unauthorized', 'A valid token is required.')
    refuseNul(request)
    await route.access?.(request.ctx, request.path)
  })
  limitRequests(app)
  app.addHook('preValidation', async (request) => {
    request.body ??= {}
  })
  app.addHook('onSend', async (request, reply, payload) => {
    refuseUnauthorizedSuccess(request, reply)
    if (payload === undefined || payload === null) reply.removeHeader('content-type')
    // Fastify adds a charset, which JSON:API forbids.
    else if (String(reply.getHeader('content-type')).startsWith(MEDIA_TYPE))
      reply.header('content-type', MEDIA_TYPE)
    if (typeof payload === 'string' && cache.keep(request, reply, payload) === 'known') {
      reply.code(304).removeHeader('content-type')
      return ''
    }
    return payload
  })
  app.addHook('onResponse', async (request, reply) => {
    logRequest(services.log, request, reply)
    const route = request.routeOptions.url ?? 'none'
    services.metrics.requestEnded(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
  })
  app.addHook('onRoute', ({ url, schema, config }) => {
    if (schema?.body && !config?.access && !config?.public)
      throw new Error(`${url} reads a body without access`)
  })
  for (const mount of routes) mount(app)
  serveFromCache(app, { cache, limiter, services, headers: API_HEADERS })
  // After the cache, which takes the place of whoever listened to requests before.
  closeSilentConnections(app, config.tls !== undefined)
  return app
}

/** What clients read to learn which features a server has (docs/compatibility.md). */
const API_HEADERS = {
  'tfp-api-version': '2.6',
  'tfp-appname': 'Plinth',
  'x-tfe-version': 'v202410-1',
  'x-content-type-options': 'nosniff',
}

function prepare(services: Services, request: FastifyRequest): void {
  const query = (request.query ?? {}) as Record<string, string | undefined>
  request.ctx = {
    ...services,
    subject: undefined,
    request: { id: request.id, authorized: false, access: new Map() },
  } satisfies Ctx
  request.path = request.params as PathParams
  request.page = new PageRequest(query['page[number]'], query['page[size]'])
  request.href = services.baseUrl + request.url
}

/** Not every database keeps such a text. */
const NUL = 'The request contains a NUL character, which no text can have.'

/** No path leads to anything with it; queries are looked at where something reads them. */
function refuseNul({ url, routeOptions }: FastifyRequest): void {
  const [path = '', query = ''] = url.split('?', 2)
  if (path.includes('%00')) throw notFound()
  if (query.includes('%00') && routeOptions.schema?.querystring) throw new AppError('badRequest', NUL)
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, item]) => name.includes('\0') || hasNul(item))
}

/** JSON:API only, and only when there is a body: clients send the header without one. */
function parseBodies(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(MEDIA_TYPE, { parseAs: 'string' }, (request, text, done) => {
    if (text === '') return done(null, undefined)
    return parseJson(request, text as string, (error, body) => {
      if (error) return done(new AppError('badRequest', 'The body is not valid JSON.'))
      if (text.includes('\\u0000') && hasNul(body)) return done(new AppError('badRequest', NUL))
      return done(null, body)
    })
  })
}

/** A connection kept alive after the answer under way at a shutdown would hold it up until it times out. */
function closeAfterLastAnswer(app: App): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onResponse', async () => {
    if (closing) setImmediate(() => app.server.closeIdleConnections())
  })
}

/**
 * So would a connection on which nothing was asked yet, as browsers open them in advance: Node takes it for one with a
 * request under way.
 */
function closeSilentConnections(app: App, isTls: boolean): void {
  const silent = new Set<Socket>()
  app.server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  app.server.on('request', ({ socket }) => silent.delete(socket))
  app.addHook('preClose', async () => {
    for (const socket of silent) socket.destroy()
  })
}

/**
 * A client that asks before it sends a body (`Expect: 100-continue`, as curl does for large files) is told to
 * go on only once the head of its request was found in order, so a refused upload is never sent.
 */
function continueLate(app: App): void {
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response))
  app.addHook('preParsing', async (request, reply) => {
    if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
  })
}

/** `Bearer` in any case (RFC 6750 and RFC 9110), then one token. */
function bearer(header: string | undefined): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1]
}

/** A success during which nobody asked for permission is a bug, and is not sent. */
function refuseUnauthorizedSuccess(request: FastifyRequest, reply: FastifyReply): void {
  const { ctx, routeOptions } = request
  if (reply.statusCode >= 400 || routeOptions.config.public || ctx.request.authorized) return
  throw new Error(`${request.method} ${routeOptions.url} succeeded without authorization`)
}

/** What callers are asked to wait while a part of the server is away. */
const RETRY_SECONDS = 2

/** Turns what was thrown into a JSON:API error document. What the caller did not cause is logged here, once. */
function answer(error: FastifyError | AppError, request: FastifyRequest, reply: FastifyReply) {
  const known = error instanceof AppError ? error : translate(error, request)
  const told =
    known ?? new AppError('internal', `The server failed; request ${request.id} says why in its log.`)
  const { status } = FAILURES[told.code]
  // An outage ends by itself; a full disk and a bug need somebody.
  const level = told.code === 'unavailable' ? 'warn' : 'error'
  if (status >= 500) request.ctx.log[level]({ err: error, requestId: request.id }, 'request failed')
  const retryAfter = told.retryAfter ?? (told.code === 'unavailable' ? RETRY_SECONDS : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply.code(status).type(MEDIA_TYPE).send(failure(told))
}

/** Errors that Fastify finds before a handler runs. */
function translate(error: FastifyError, { routeOptions }: FastifyRequest): AppError | undefined {
  const consumes = routeOptions.config?.doc?.consumes ?? MEDIA_TYPE
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('unsupportedMediaType', `content-type must be ${consumes}`)
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError(
        'tooLarge',
        `The body is larger than ${routeOptions.bodyLimit ?? MAX_BODY_BYTES} bytes.`,
      )
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new AppError('badRequest', 'The body does not have the length that was announced.')
    case 'FST_ERR_BAD_URL':
      return new AppError('badRequest', 'The address is not valid.')
    default:
      return error.statusCode === 404 ? notFound() : undefined
  }
}
