import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/**
 * One line for one request. Of the address it has the route's pattern and the path, never the query; a
 * signed link's path carries its secret and is left out. Headers and bodies are never logged.
 */
export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  const { subject } = request.ctx
  const route = request.routeOptions.url
  log.info({
    requestId: request.id,
    method: request.method,
    route,
    ...(!route?.includes(':signature') && { path: request.url.split('?', 1)[0] }),
    status: reply.statusCode,
    milliseconds: Math.round(reply.elapsedTime * 10) / 10,
    address: request.ip,
    ...(subject && { subject: `${subject.kind}:${subject.id}` }),
  })
}
