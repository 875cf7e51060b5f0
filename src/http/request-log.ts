import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/**
 * One line for one request. Of the address it has the route's pattern and the path, never the query; the
 * path of a signed link carries its secret and is left out, also where the request came to no route (such a
 * link with another method, say). Headers and bodies are never logged.
 */
export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { subject } = request.ctx
  const route = request.routeOptions.url
  const path = request.url.split('?', 1)[0] ?? ''
  log.info({
    requestId: request.id,
    method: request.method,
    route,
    ...(!path.includes('/storage/') && { path }),
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    address: request.ip,
    ...(subject && { subject: `${subject.kind}:${subject.id}` }),
  })
}
