import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS, failuresOf } from '../src/http/openapi-failures.ts'
import type { Answer, DocumentedRoute } from '../src/http/operation.ts'
import type { App } from '../src/http/routes.ts'

const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false })
/** Requests that are broken below the API: too slow, or with too long an address or head. */
const TRANSPORT = [408, 414, 431]

const compiled = new WeakMap<object, ValidateFunction>()

/** Holds every answer that a server gives against what its route says; `report` hears of those that differ. */
export function watchAnswers(report: (problem: string) => void): (app: App) => void {
  return (app) => {
    app.addHook('onSend', async (request, reply, payload) => {
      for (const problem of problemsOf(request, reply, payload)) {
        const { method, url } = request.routeOptions
        report(`${method} ${url} ${reply.statusCode}: ${problem}`)
      }
      return payload
    })
  }
}

function problemsOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): string[] {
  const { method, url = '', schema, config } = request.routeOptions
  if (
    request.is404 ||
    TRANSPORT.includes(reply.statusCode) ||
    reply.statusCode >= 500 ||
    request.method === 'HEAD'
  )
    return []
  if (!config.doc) return ['the route does not say what it does']
  const route = { method: String(method), url, schema, config } as DocumentedRoute
  const answer = config.doc.answers[reply.statusCode]
  if (answer) return differences(answer, reply, payload)
  if (!failuresOf(route).has(reply.statusCode)) return ['the status is not documented']
  return isJson(reply) ? violations(ERRORS, payload) : []
}

function differences({ schema, mediaType }: Answer, reply: FastifyReply, payload: unknown): string[] {
  const hasBody = payload !== null && payload !== undefined && payload !== ''
  if (!mediaType) return hasBody ? ['there is a body, which is not documented'] : []
  const type = String(reply.getHeader('content-type')).split(';')[0]
  if (mediaType !== '*/*' && type !== mediaType) return [`content type ${type} instead of ${mediaType}`]
  // What is streamed is a file; nobody here knows more of it.
  const isDocument = typeof payload === 'string' && isJson(reply)
  return schema && isDocument ? violations(schema, payload) : []
}

function isJson(reply: FastifyReply): boolean {
  return /json/.test(String(reply.getHeader('content-type')))
}

function violations(schema: object, payload: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  if (validate(JSON.parse(String(payload)))) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
