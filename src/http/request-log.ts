import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Subject } from '../auth/subject.ts'

/** What is known of an answer that was given. */
export interface Answered {
  requestId: string
  method: string
  /** The pattern of the address; undefined when there is none. */
  route: string | undefined
  url: string
  status: number
  seconds: number
  address: string | undefined
  subject: Subject | undefined
}

/** One line for one request. */
export function logRequest(log: Logger, request: FastifyRequest, reply: FastifyReply): void {
  logAnswer(log, {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    url: request.url,
    status: reply.statusCode,
    seconds: reply.elapsedTime / 1000,
    address: request.ip,
    subject: request.ctx.subject,
  })
}

/**
 * Of the address the line has the route's pattern and the path, never the query; the path of a signed link
 * carries its secret and is left out, also where the request came to no route (such a link with another
 * method, say). Headers and bodies are never logged.
 */
export function logAnswer(log: Logger, { url, seconds, subject, ...answered }: Answered): void {
  const path = url.split('?', 1)[0] ?? ''
  log.info({
    ...answered,
    ...(!path.includes('/storage/') && { path }),
    milliseconds: Math.round(seconds * 10_000) / 10,
    ...(subject && { subject: `${subject.kind}:${subject.id}` }),
  })
}
