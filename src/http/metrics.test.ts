import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../test/harness.ts'
import { publish } from '../../test/registry.ts'

const TOKEN = 'token-for-the-scraper'

/** A port that nobody listens on now. */
async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

const listen = `127.0.0.1:${await freePort()}`

onEachDialect(
  'metrics',
  (server) => {
    test('count and time requests, statements, files and jobs', async () => {
      const organization = await server.organization()
      await publish(organization, 'demo', '1.0.0')
      await organization.owner.get('/api/v2/organizations/none')
      const { status, text, headers } = await server.as('another-token').get('/metrics')
      expect([status, headers.get('content-type')]).toEqual([401, 'application/vnd.api+json'])
      expect(text).not.toContain('plinth_')

      const scraped = await server.nobody.send('GET', '/metrics', undefined, {
        authorization: `Bearer ${TOKEN}`,
      })
      expectStatus(scraped, 200)
      expect(scraped.headers.get('content-type')).toMatch(/^text\/plain/)
      const value = (name: string, labels: string) => {
        const line = scraped.text.split('\n').find((candidate) => candidate.startsWith(`${name}{${labels}}`))
        return Number(line?.split(' ').at(-1))
      }
      const created = 'method="POST",route="/api/v2/organizations",status="201"'
      expect(value('plinth_http_request_seconds_count', created)).toBeGreaterThanOrEqual(1)
      const missing = 'method="GET",route="/api/v2/organizations/:organization_name",status="404"'
      expect(value('plinth_http_request_seconds_count', missing)).toBe(1)
      expect(value('plinth_database_query_seconds_count', 'statement="insert"')).toBeGreaterThan(5)
      expect(value('plinth_blob_operation_seconds_count', 'operation="stage"')).toBeGreaterThanOrEqual(4)
      expect(scraped.text).toMatch(/^plinth_uploaded_bytes_total [1-9]/m)
      expect(value('plinth_jobs', 'state="waiting"')).toBeGreaterThanOrEqual(1)
      expect(scraped.text).not.toContain(organization.name)
    })

    test('are refused without the token', async () => {
      expect((await server.nobody.get('/metrics')).status).toBe(401)
      expect((await server.admin.get('/metrics')).status).toBe(401)
    })
  },
  { PLINTH_METRICS_TOKEN: TOKEN },
)

onEachDialect(
  'metrics on a listener of their own',
  (server) => {
    test('need no token there, and do not exist beside the API', async () => {
      const answer = await fetch(`http://${listen}/metrics`)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('process_cpu_seconds_total')
      expect((await fetch(`http://${listen}/api/v2/ping`)).status).toBe(404)
      expect((await server.nobody.get('/metrics')).status).toBe(404)
    })
  },
  { PLINTH_METRICS_LISTEN: listen },
)
