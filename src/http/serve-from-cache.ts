import type { IncomingMessage, ServerResponse } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import type { Services } from '../context.ts'
import { AppError, FAILURES } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { failure, MEDIA_TYPE } from './jsonapi.ts'
import type { RateLimiter } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'
import type { CachedAnswer, ResponseCache } from './response-cache.ts'
import type { App } from './routes.ts'

interface Options {
  cache: ResponseCache
  limiter: RateLimiter
  services: Services
  /** Headers of every answer. */
  headers: Record<string, string>
}

/**
 * Puts the cache in front of the router: a known answer costs a third of what routing and hooks would add. It
 * counts against the rate limit, is logged, and is measured as every other.
 */
export function serveFromCache(app: App, { cache, limiter, services, headers }: Options): void {
  const { server } = app
  const [route] = server.listeners('request') as ((
    request: IncomingMessage,
    response: ServerResponse,
  ) => void)[]
  if (!route) throw new Error('the server has no router')
  // As Fastify finds it for every other request.
  const trusted = proxyAddr.compile(services.config.trustedProxies)
  const addressOf = (request: IncomingMessage) => proxyAddr(request, trusted)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (closing) return route(request, response)
    const started = performance.now()
    cache.serve(
      request,
      response,
      (answer) => {
        const status = give(answer, request, response)
        const seconds = (performance.now() - started) / 1000
        services.metrics.requestEnded('GET', answer.route, status, seconds)
        logAnswer(services.log, {
          requestId: newId('req'),
          method: 'GET',
          route: answer.route,
          url: request.url ?? '',
          status,
          seconds,
          address: addressOf(request),
          subject: answer.subject,
        })
      },
      route,
    )
  })

  function give(
    { subject, body, headers: own }: CachedAnswer,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    try {
      limiter.admit(subject, '', { header: (name, value) => response.setHeader(name, value) })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const { status } = FAILURES[error.code]
      response.writeHead(status, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(failure(error)))
      return status
    }
    if (request.headers['if-none-match'] === own['etag']) {
      response.writeHead(304, { etag: own['etag'] }).end()
      return 304
    }
    response.writeHead(200, { ...own, 'content-length': Buffer.byteLength(body) }).end(body)
    return 200
  }
}
