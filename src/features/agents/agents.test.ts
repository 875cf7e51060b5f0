import { expect, test } from 'vitest'
import { newAgentToken, newPool, WireAgent } from '../../../test/agents.ts'
import { type Answer, onEachDialect, type TestOrganization } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import { watchAgents } from './jobs.ts'

const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)
const MINUTE = 1 / (24 * 60)

onEachDialect('agents', (server) => {
  const inPool = async (organization: TestOrganization) => {
    const poolId = await newPool(organization)
    const { secret } = await newAgentToken(organization, poolId)
    return { poolId, join: (name?: string) => WireAgent.register(server, secret, name) }
  }

  test('are shown with what they do, and listed in pages', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { poolId, join } = await inPool(organization)
    const first = await join('build-7')
    const self = `/api/v2/agents/${first.id}`
    const shown = await owner.get(self)
    const { attributes } = shown.body.data
    expect(shown.body.data).toEqual({
      id: expect.stringMatching(/^agent-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'agents',
      attributes: {
        name: 'build-7',
        status: 'idle',
        'ip-address': '127.0.0.1',
        version: '0.1.0',
        'last-ping-at': expect.stringMatching(/Z$/),
        'created-at': attributes['last-ping-at'],
      },
      relationships: { 'agent-pool': { data: { id: poolId, type: 'agent-pools' } } },
      links: { self },
    })
    const [second, third] = [await join('build-8'), await join('build-9')]
    const list = `/api/v2/agent-pools/${poolId}/agents`
    expect(ids(await owner.get(list))).toEqual([first.id, second.id, third.id])
    expect(ids(await owner.get(`${list}?sort=-created-at`))).toEqual([third.id, second.id, first.id])
    expect(ids(await owner.get(`${list}?page[size]=2&page[number]=2`))).toEqual([third.id])
    expect(ids(await owner.get(`${list}?page[number]=9`))).toEqual([])
    const since = (moment: string) =>
      owner.get(`${list}?filter[last-ping-since]=${encodeURIComponent(moment)}`)
    expect(ids(await since('2020-08-11T10:41:23Z'))).toHaveLength(3)
    expect(ids(await since('2999-01-01T00:00:00+02:00'))).toEqual([])
    const bad = await since('soon')
    expect([bad.status, bad.body.errors[0].source.parameter]).toEqual([400, 'filter[last-ping-since]'])
    const pool = await owner.get(`/api/v2/agent-pools/${poolId}`)
    expect(pool.body.data.attributes['agent-count']).toBe(3)
    const events = await (await server.organizationToken(organization)).get(
      '/api/v2/organization/audit-trail',
    )
    expect(events.text).not.toContain('plinth_')
  })

  test('that are silent are unknown, then errored, then forgotten', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { poolId, join } = await inPool(organization)
    const agent = await join()
    const status = async () => {
      const answer = await owner.get(`/api/v2/agents/${agent.id}`)
      return answer.status === 404 ? 'forgotten' : answer.body.data.attributes.status
    }
    const count = async () =>
      (await owner.get(`/api/v2/agent-pools/${poolId}`)).body.data.attributes['agent-count']
    await runLater(server, watchAgents, MINUTE)
    expect([await status(), await count()]).toEqual(['idle', 1])
    await runLater(server, watchAgents, 3 * MINUTE)
    expect([await status(), await count()]).toEqual(['unknown', 1])
    await runLater(server, watchAgents, 119 * MINUTE)
    expect(await status()).toBe('unknown')
    await runLater(server, watchAgents, 121 * MINUTE)
    expect([await status(), await count()]).toEqual(['errored', 0])
    await runLater(server, watchAgents, 6)
    expect(await status()).toBe('errored')
    await runLater(server, watchAgents, 8)
    expect(await status()).toBe('forgotten')
  })

  test('can be deleted when they are not there any more', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { join } = await inPool(organization)
    const agent = await join()
    const self = `/api/v2/agents/${agent.id}`
    const refused = await owner.delete(self)
    expect([refused.status, refused.body.errors[0].title]).toEqual([412, 'precondition failed'])
    expect((await agent.client.delete(agent.path)).status).toBe(204)
    expect((await owner.get(self)).body.data.attributes.status).toBe('exited')
    expect((await owner.delete(self)).status).toBe(204)
    expect((await owner.get(self)).status).toBe(404)
    expect((await owner.delete(self)).status).toBe(404)
    expect((await agent.client.delete(agent.path)).status).toBe(404)

    const silent = await join()
    await runLater(server, watchAgents, 3 * MINUTE)
    expect((await owner.delete(`/api/v2/agents/${silent.id}`)).status).toBe(204)
  })

  test('do not exist for strangers, and are deleted by those who manage pools', async () => {
    const organization = await server.organization()
    const { poolId, join } = await inPool(organization)
    const agent = await join()
    const self = `/api/v2/agents/${agent.id}`
    const list = `/api/v2/agent-pools/${poolId}/agents`
    const reader = await server.member(organization, ['read-workspaces'])
    expect([(await reader.get(self)).status, (await reader.get(list)).status]).toEqual([200, 200])
    expect((await reader.delete(self)).status).toBe(404)
    for (const client of [await server.user(), await server.member(organization), agent.client]) {
      expect((await client.get(self)).status).toBe(404)
      expect((await client.get(list)).status).toBe(404)
      expect((await client.get(`${list}?filter[last-ping-since]=soon`)).status).toBe(404)
      expect((await client.delete(self)).status).toBe(404)
    }
    expect((await server.nobody.get(self)).status).toBe(401)
    const manager = await server.member(organization, ['manage-agent-pools'])
    expect((await manager.delete(self)).status).toBe(412)
  })
})
