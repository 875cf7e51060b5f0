import { createHash, timingSafeEqual } from 'node:crypto'
import type { Server } from 'node:http'
import { AppError, notFound } from '../lib/errors.ts'
import type { Metrics } from '../lib/metrics.ts'
import { createServer } from '../lib/node-http.ts'
import { documents } from './operation.ts'
import type { App } from './routes.ts'
import { answerFile } from './shown.ts'

const doc = documents('Server', 'What the server is, and how it is.')(
  'showMetrics',
  'Tell what the server measures, for Prometheus',
  { 200: answerFile('In the text format of Prometheus.', 'text/plain') },
  {
    description: 'Needs the token of PLINTH_METRICS_TOKEN, which no other address takes.',
    failures: {
      unauthorized: 'The token is another one.',
      notFound: 'The server has no such token.',
    },
  },
)

/** Serves the metrics beside the API to whoever has the token; without a token there is no such address. */
export function mountMetrics(app: App, token: string | undefined): void {
  app.get('/metrics', { config: { public: true, doc } }, async ({ ctx, headers }, reply) => {
    if (!token) throw notFound()
    if (!same(headers.authorization ?? '', `Bearer ${token}`)) {
      throw new AppError('unauthorized', 'The token of PLINTH_METRICS_TOKEN is required.')
    }
    const { contentType, text } = await ctx.metrics.expose()
    return reply.type(contentType).send(text)
  })
}

/** Serves nothing but the metrics, without a token, on a listener of their own. */
export function listenForMetrics(
  metrics: Metrics,
  { host, port }: { host: string; port: number },
): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') return response.writeHead(404).end()
    try {
      const { contentType, text } = await metrics.expose()
      return response.writeHead(200, { 'content-type': contentType }).end(text)
    } catch {
      return response.writeHead(503).end()
    }
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}

/** Compares in a time that does not depend on where the two differ, or on their lengths. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
