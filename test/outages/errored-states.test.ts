import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newAgentToken, newAgentWorkspace, newPool, WireAgent } from '../agents.ts'
import { type Client, DIALECTS, TestServer } from '../harness.ts'
import { hasPostgres, NEEDS_POSTGRES, PostgresCluster } from '../postgres-cluster.ts'
import { newRun } from '../runs.ts'
import { put, rawState } from '../states.ts'

/** A run that a worker has: the link that it has from the start, and where the state is fetched. */
async function prepare(server: TestServer) {
  const organization = await server.organization()
  const poolId = await newPool(organization)
  const { secret } = await newAgentToken(organization, poolId)
  const agent = await WireAgent.register(server, secret)
  const workspace = await newAgentWorkspace(organization, poolId)
  const run = await newRun(organization.owner, workspace.id)
  const { recoveryUrl } = await agent.claim()
  const url = `/api/v2/applies/${run.relationships.apply.data.id}/errored-state`
  return { owner: organization.owner, recoveryUrl: recoveryUrl as string, url }
}

async function follow(owner: Client, url: string): Promise<string> {
  const location = (await owner.get(url)).headers.get('location')
  return location ? (await fetch(location)).text() : ''
}

const STATE = rawState({ serial: 7 })

describe('the state of an apply is kept', () => {
  const sqlite = new TestServer('sqlite', { PLINTH_RUN_WORKERS: '0' })
  beforeAll(() => sqlite.start())
  afterAll(() => sqlite.stop())

  test('while another process holds the lock of the SQLite file', async () => {
    const { owner, recoveryUrl, url } = await prepare(sqlite)
    const other = new DatabaseSync(join(sqlite.dataDir, 'plinth.db'))
    other.exec('begin exclusive')
    const begun = performance.now()
    expect((await put(recoveryUrl, STATE)).status).toBe(200)
    expect(performance.now() - begun).toBeLessThan(2_000)
    other.exec('rollback')
    other.close()
    expect(await follow(owner, url)).toBe(STATE)
  })

  const options = DIALECTS.includes('postgres') ? { meta: { needs: NEEDS_POSTGRES } } : {}

  test.skipIf(!DIALECTS.includes('postgres') || !hasPostgres())(
    'while PostgreSQL is away',
    options,
    async () => {
      const cluster = await PostgresCluster.create()
      const server = new TestServer('postgres', { PLINTH_DATABASE_URL: cluster.url, PLINTH_RUN_WORKERS: '0' })
      try {
        await server.start()
        const { owner, recoveryUrl, url } = await prepare(server)
        const before = rawState({ serial: 6 })
        expect((await put(recoveryUrl, before)).status).toBe(200)
        const location = (await owner.get(url)).headers.get('location') as string
        await cluster.stop('SIGQUIT')
        expect((await owner.get(url)).status).toBe(503)
        expect(await (await fetch(location)).text()).toBe(before)
        expect((await put(recoveryUrl, STATE)).status).toBe(200)
        await cluster.start()
        await expect.poll(() => follow(owner, url), { timeout: 10_000 }).toBe(STATE)
      } finally {
        await server.stop()
        await cluster.remove()
      }
    },
  )
})
