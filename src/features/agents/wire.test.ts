import { expect, test } from 'vitest'
import {
  newAgentToken,
  newAgentWorkspace,
  newPool,
  queueRun,
  sendJson,
  WireAgent,
} from '../../../test/agents.ts'
import { expectStatus, onEachDialect, pointers, type TestOrganization } from '../../../test/harness.ts'
import { document, newVersionOfEngine } from '../../../test/resources.ts'
import { newRun, readLog, untilRun } from '../../../test/runs.ts'

const COUNTS = { additions: 1, changes: 0, destructions: 0, imports: 0 }
const PLANNED = { status: 'finished', hasChanges: true, generatedConfiguration: false, counts: COUNTS }

const stateOf = (serial: number, lineage = 'f5b3c1de-0000-4000-8000-000000000001') =>
  JSON.stringify({ version: 4, terraform_version: '1.11.4', serial, lineage, outputs: {}, resources: [] })

onEachDialect(
  'the agent protocol',
  (server) => {
    const start = async () => {
      const organization = await server.organization()
      const poolId = await newPool(organization)
      const token = await newAgentToken(organization, poolId)
      const agent = await WireAgent.register(server, token.secret)
      return { organization, owner: organization.owner, poolId, token, agent }
    }
    const statusOf = async ({ owner }: TestOrganization, id: string) =>
      (await owner.get(`/api/v2/agents/${id}`)).body.data.attributes.status
    const detailsOf = async ({ owner }: TestOrganization, path: string) =>
      (await owner.get(path)).body.data.attributes['execution-details']

    test('carries a plan and its apply from the queue to the end', async () => {
      const { organization, owner, poolId, agent } = await start()
      const workspace = await newAgentWorkspace(organization, poolId)
      const { data } = newVersionOfEngine()
      const archive = { url: 'https://releases.example.com/engine.zip', sha: 'a'.repeat(64) }
      const body = document('terraform-versions', { ...data.attributes, ...archive })
      expectStatus(await server.admin.post('/api/v2/admin/terraform-versions', body), 201)
      const run = await newRun(owner, workspace.id, { variables: [{ key: 'a', value: '"b"' }] })
      const plan = await agent.claim()
      expect(plan).toMatchObject({
        executionId: expect.stringMatching(/^exec-/),
        phase: 'plan',
        run: { id: run.id, isDestroy: false, variables: [{ key: 'a', value: '"b"' }] },
        organization: organization.name,
        project: 'Default Project',
        engineVersions: expect.arrayContaining([
          expect.objectContaining({ archives: [{ platform: 'linux_amd64', ...archive }] }),
        ]),
        workspace: { id: workspace.id, name: workspace.attributes.name, workingDirectory: '' },
        serverUrl: server.url,
        token: expect.stringMatching(/^plinth_/),
        recoveryUrl: expect.stringContaining(`${server.url}/storage/`),
        timeout: 7200,
      })
      expect(await statusOf(organization, agent.id)).toBe('busy')
      expect((await agent.heartbeat(plan.executionId)).body).toEqual({ cancel: null })
      const report = await agent.say(plan.executionId, 'report', {
        terraformVersion: '1.11.4',
        sandbox: 'none',
      })
      expect(report.status).toBe(204)
      const configuration = await agent.fetch(plan.executionId, 'configuration')
      expect([configuration.status, (await configuration.arrayBuffer()).byteLength > 50]).toEqual([200, true])
      expect((await agent.fetch(plan.executionId, 'state')).status).toBe(204)
      expect((await agent.log(plan.executionId, 0, 'Planning… ä\n')).status).toBe(204)
      expect((await agent.log(plan.executionId, 0, 'Planning… ä\n')).status).toBe(204)
      expect((await agent.log(plan.executionId, 15, 'Planned.\n')).status).toBe(204)
      for (const [file, content] of [
        ['plan', 'a plan'],
        ['lock-file', 'locks'],
        ['json-output', '{"format_version":"1.2"}'],
      ] as const) {
        expect([file, (await agent.produce(plan.executionId, file, content)).status]).toEqual([file, 204])
      }
      expect((await agent.produce(plan.executionId, 'plan', 'a plan')).status).toBe(204)
      expect((await agent.produce(plan.executionId, 'plan', 'another')).status).toBe(409)
      expect((await agent.say(plan.executionId, 'finish', PLANNED)).status).toBe(204)
      const planned = await untilRun(owner, run.id, ['planned'])
      expect(await statusOf(organization, agent.id)).toBe('idle')
      const planId = planned.relationships.plan.data.id
      expect(await readLog(owner, 'plans', planId)).toBe('Planning… ä\nPlanned.\n')
      const name = (await owner.get(`/api/v2/agent-pools/${poolId}`)).body.data.attributes.name
      const details = {
        mode: 'agent',
        'agent-id': agent.id,
        'agent-name': 'build-7',
        'agent-pool-id': poolId,
        'agent-pool-name': name,
      }
      expect(await detailsOf(organization, `/api/v2/plans/${planId}`)).toMatchObject(details)

      expectStatus(await owner.post(`/api/v2/runs/${run.id}/actions/apply`), 202)
      const apply = await agent.claim()
      expect(apply).toMatchObject({ phase: 'apply', run: { id: run.id } })
      expect(await (await agent.fetch(apply.executionId, 'plan')).text()).toBe('a plan')
      expect(await (await agent.fetch(apply.executionId, 'lock-file')).text()).toBe('locks')
      const saved = await agent.saveState(apply.executionId, stateOf(1), '{"format_version":"1.0"}')
      expect(saved.status).toBe(204)
      expect(
        (await agent.say(apply.executionId, 'finish', { status: 'finished', counts: COUNTS })).status,
      ).toBe(204)
      const applied = await untilRun(owner, run.id, ['applied'])
      const applyPath = `/api/v2/applies/${applied.relationships.apply.data.id}`
      expect(await detailsOf(organization, applyPath)).toMatchObject(details)
      const current = await owner.get(`/api/v2/workspaces/${workspace.id}/current-state-version`)
      expect(current.body.data).toMatchObject({ attributes: { serial: 1 } })

      const second = await newRun(owner, workspace.id)
      const next = await agent.claim()
      expect(next.run.id).toBe(second.id)
      expect(await (await agent.fetch(next.executionId, 'state')).text()).toBe(stateOf(1))
    })

    test('waits for work, which comes at once when there is some', async () => {
      const { organization, poolId, agent } = await start()
      const claimed = agent.claim()
      const run = await queueRun(organization, poolId)
      const from = performance.now()
      expect((await claimed).run.id).toBe(run.id)
      expect(performance.now() - from).toBeLessThan(2000)
    })

    test('tells agents to stop what was cancelled', async () => {
      const { organization, owner, poolId, agent } = await start()
      const run = await queueRun(organization, poolId)
      const { executionId } = await agent.claim()
      expectStatus(await owner.post(`/api/v2/runs/${run.id}/actions/cancel`), 202)
      expect((await agent.heartbeat(executionId)).body).toEqual({ cancel: 'cancel' })
      expect((await agent.say(executionId, 'finish', { status: 'canceled' })).status).toBe(204)
      await untilRun(owner, run.id, ['canceled'])
    })

    test('gives an execution to one agent of its pool, and believes nobody else', async () => {
      const { organization, poolId, token, agent } = await start()
      const colleague = await WireAgent.register(server, token.secret, 'build-8')
      const other = await newAgentToken(organization, await newPool(organization))
      const stranger = await WireAgent.register(server, other.secret)
      const run = await queueRun(organization, poolId)
      const { executionId } = await agent.claim()
      const words = (who: WireAgent) => [
        who.heartbeat(executionId),
        who.say(executionId, 'report', { terraformVersion: '1.11.4', sandbox: 'none' }),
        who.log(executionId, 0, 'lies'),
        who.fetch(executionId, 'configuration'),
        who.produce(executionId, 'plan', 'x'),
        who.saveState(executionId, stateOf(1)),
        who.say(executionId, 'finish', { status: 'finished' }),
      ]
      const statuses = async (who: WireAgent) => (await Promise.all(words(who))).map(({ status }) => status)
      expect(await statuses(colleague)).toEqual(Array(7).fill(410))
      expect(await statuses(stranger)).toEqual(Array(7).fill(410))
      // In the name of the agent, with a token of another pool.
      const forged = Object.assign(Object.create(agent), { client: stranger.client })
      for (const what of ['heartbeat', 'finish']) {
        const answer = await sendJson(forged.client, `${agent.path}/executions/${executionId}/${what}`, {
          status: 'finished',
        })
        expect(answer.status).toBe(404)
      }
      expect((await stranger.client.post(`${agent.path}/claim`)).status).toBe(404)
      expect((await stranger.client.delete(agent.path)).status).toBe(404)
      expect((await untilRun(organization.owner, run.id, ['planning'])).attributes.status).toBe('planning')
      expectStatus(await agent.say(executionId, 'finish', { status: 'errored', error: 'It broke.' }), 204)
      expect((await agent.heartbeat(executionId)).status).toBe(410)
      expect((await agent.log(executionId, 0, 'late')).status).toBe(410)
      // Told twice, it counts once.
      expect((await agent.say(executionId, 'finish', { status: 'finished' })).status).toBe(204)
      await untilRun(organization.owner, run.id, ['errored'])
    })

    test('race: no two agents get the same, and none is left', async () => {
      const { organization, poolId, token } = await start()
      const agents = await Promise.all(
        Array.from({ length: 4 }, (_, index) => WireAgent.register(server, token.secret, `build-${index}`)),
      )
      const claims = agents.map((agent) => agent.claim())
      const runs = await Promise.all(agents.map(() => queueRun(organization, poolId)))
      const claimed = (await Promise.all(claims)).map((assignment) => assignment?.run.id)
      expect(claimed.sort()).toEqual(runs.map(({ id }) => id).sort())
    })

    test('gives runs a token that reads the registry, and ends with the phase', async () => {
      const { organization, poolId, agent } = await start()
      const { owner, path } = organization
      const workspace = await newAgentWorkspace(organization, poolId)
      await newRun(owner, workspace.id)
      const { executionId, token } = await agent.claim()
      const program = server.as(token)
      const statuses = async (...addresses: string[]) =>
        (await Promise.all(addresses.map((address) => program.get(address)))).map(({ status }) => status)
      const readable = [path, `${path}/registry-providers`, `/api/v2/workspaces/${workspace.id}`]
      expect(await statuses(...readable)).toEqual([200, 200, 200])
      const elsewhere = await server.organization()
      expect(
        await statuses(
          elsewhere.path,
          `${elsewhere.path}/registry-providers`,
          '/api/v2/account/details',
          `${path}/workspaces`,
          `/api/v2/workspaces/${workspace.id}/vars`,
          `/api/v2/agent-pools/${poolId}`,
        ),
      ).toEqual(Array(6).fill(404))
      expect((await program.post(`/api/v2/workspaces/${workspace.id}/actions/lock`)).status).toBe(404)
      expectStatus(await agent.say(executionId, 'finish', { status: 'errored', error: 'It broke.' }), 204)
      expect(await statuses(...readable)).toEqual([401, 401, 401])
    })

    test('ends with the token, and with the agent', async () => {
      const { organization, owner, poolId, token, agent } = await start()
      await queueRun(organization, poolId)
      const { executionId } = await agent.claim()
      expectStatus(await owner.delete(`/api/v2/authentication-tokens/${token.id}`), 204)
      expect((await agent.heartbeat(executionId)).status).toBe(401)
      expect((await agent.client.post(`${agent.path}/claim`)).status).toBe(401)
    })

    test('refuses states that do not follow, and says how', async () => {
      const { organization, owner, poolId, agent } = await start()
      const workspace = await newAgentWorkspace(organization, poolId)
      await newRun(owner, workspace.id, { 'auto-apply': true })
      const plan = await agent.claim()
      await agent.produce(plan.executionId, 'plan', 'a plan')
      expectStatus(await agent.say(plan.executionId, 'finish', PLANNED), 204)
      const { executionId } = await agent.claim()
      const limit = server.config.maxStateBytes
      const refused = async (response: Promise<Response>) => {
        const { status, headers } = await response
        return [status, headers.get('content-type')]
      }
      expect(await refused(agent.saveState(executionId, 'x'.repeat(limit + 1)))).toEqual([
        413,
        'application/vnd.api+json',
      ])
      expect((await agent.saveState(executionId, 'no state at all')).status).toBe(422)
      expect((await agent.saveState(executionId, stateOf(3))).status).toBe(204)
      expect([409, 412]).toContain((await agent.saveState(executionId, stateOf(2))).status)
      expect([409, 412]).toContain((await agent.saveState(executionId, stateOf(4, 'other'))).status)
      expect((await agent.saveState(executionId, stateOf(4))).status).toBe(204)
    })

    test('is for agents only, and takes what it says', async () => {
      const { organization, owner, poolId, agent } = await start()
      await queueRun(organization, poolId)
      const { executionId } = await agent.claim()
      const execution = `${agent.path}/executions/${executionId}`
      const body = { name: 'x', version: '1' }
      for (const client of [owner, server.admin, await server.organizationToken(organization)]) {
        expect((await sendJson(client, '/api/agent/v1/agents', body)).status).toBe(404)
        expect((await client.post('/api/agent/v1/agents', body)).status).toBe(404)
        expect((await client.post(`${agent.path}/claim`)).status).toBe(404)
        expect((await client.get(`${execution}/files/configuration`)).status).toBe(404)
        expect((await client.send('PUT', `${execution}/files/plan`, 'x')).status).toBe(404)
      }
      expect((await sendJson(server.nobody, '/api/agent/v1/agents', body)).status).toBe(401)
      const { client } = agent
      expect((await client.post('/api/agent/v1/agents', body)).status).toBe(415)
      expect((await sendJson(client, '/api/agent/v1/agents', '{')).status).toBe(400)
      expect(pointers(await sendJson(client, '/api/agent/v1/agents', { version: 1 }))).toEqual([
        '/name',
        '/version',
      ])
      expect(pointers(await agent.say(executionId, 'finish', { status: 'done' }))).toEqual(['/status'])
      expect((await client.post(`${execution}/log?start=0`, {})).status).toBe(415)
      expect(
        (await client.send('POST', `${execution}/log`, 'x', { 'content-type': 'text/plain' })).status,
      ).toBe(400)
      expect((await agent.log(executionId, 0, 'x'.repeat(2 ** 20 + 1))).status).toBe(413)
      expect((await agent.fetch(executionId, 'secrets')).status).toBe(404)
      expect((await agent.produce(executionId, 'state', 'x')).status).toBe(404)
      expect((await client.get(`${agent.path}/executions/exec-none/files/plan`)).status).toBe(410)
      expect(server.logLines.join('')).not.toContain(client.token)
    })
  },
  { PLINTH_MAX_STATE_BYTES: '100000', PLINTH_RUN_WORKERS: '0' },
)
