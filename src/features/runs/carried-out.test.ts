import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newAgentToken, newAgentWorkspace, newPool, WireAgent } from '../../../test/agents.ts'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { newRun, runDocument } from '../../../test/runs.ts'

const COUNTS = { additions: 2, changes: 0, destructions: 1, imports: 0 }

const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.11.4',
  serial: 1,
  lineage: 'f5b3c1de-0000-4000-8000-000000000002',
  outputs: {},
  resources: [],
})

/** What clients tell of themselves. */
const CLIENTS = {
  cloud: { 'terraform-version': '1.11.4', 'x-terraform-integration': 'cloud' },
  remote: { 'terraform-version': '1.11.4' },
  script: {},
} as const

// An agent that is no program carries these runs out, word by word.
onEachDialect(
  'runs that are carried out',
  (server) => {
    const start = async () => {
      const organization = await server.organization()
      const poolId = await newPool(organization)
      const agent = await WireAgent.register(server, (await newAgentToken(organization, poolId)).secret)
      const { owner } = organization
      const workspace = await newAgentWorkspace(organization, poolId)
      return {
        owner,
        agent,
        workspaceId: workspace.id as string,
        runBy: async (client: keyof typeof CLIENTS, attributes: object = {}) => {
          const body = JSON.stringify(runDocument(workspace.id, attributes))
          return expectStatus(await owner.send('POST', '/api/v2/runs', body, CLIENTS[client]), 201).body.data
        },
        /** Ends the plan of the run that is next. */
        plan: async () => {
          const { executionId, run } = await agent.claim()
          await agent.produce(executionId, 'plan', 'a plan')
          const outcome = { status: 'finished', hasChanges: true, counts: COUNTS }
          expectStatus(await agent.say(executionId, 'finish', outcome), 204)
          return run
        },
        statusOf: async (id: string) => (await owner.get(`/api/v2/runs/${id}`)).body.data.attributes.status,
      }
    }

    test('say where they came from, and have logs in the form that their client can show', async () => {
      const { owner, agent, workspaceId, runBy } = await start()
      const seen: unknown[] = []
      const look = async (client: keyof typeof CLIENTS) => {
        const { id, attributes } = await runBy(client)
        const { executionId, run } = await agent.claim()
        expect(run.id).toBe(id)
        seen.push([client, attributes.source, run.structuredOutput])
        expectStatus(await agent.say(executionId, 'finish', { status: 'errored', error: 'enough' }), 204)
      }
      for (const client of ['cloud', 'remote', 'script'] as const) await look(client)
      const plain = { data: { type: 'workspaces', attributes: { 'structured-run-output-enabled': false } } }
      expectStatus(await owner.patch(`/api/v2/workspaces/${workspaceId}`, plain), 200)
      await look('cloud')
      expect(seen).toEqual([
        ['cloud', 'terraform+cloud', true],
        ['remote', 'terraform', false],
        ['script', 'tfe-api', false],
        ['cloud', 'terraform+cloud', false],
      ])
    })

    test('count nothing before they know, and say in what they were carried out and why they failed', async () => {
      const { owner, agent, runBy } = await start()
      const { relationships } = await runBy('script')
      const attributesOf = async () =>
        (await owner.get(`/api/v2/plans/${relationships.plan.data.id}`)).body.data.attributes
      const { executionId } = await agent.claim()
      await agent.say(executionId, 'report', { terraformVersion: '1.11.4', sandbox: 'bwrap' })
      const before = { status: 'running', 'resource-additions': 0, 'resource-destructions': 0, error: null }
      expect(await attributesOf()).toMatchObject(before)
      const outcome = { status: 'errored', error: 'out of luck', counts: COUNTS }
      expectStatus(await agent.say(executionId, 'finish', outcome), 204)
      expect(await attributesOf()).toMatchObject({
        'execution-details': { mode: 'agent', sandbox: 'bwrap' },
        'resource-additions': 2,
        'resource-destructions': 1,
        error: 'out of luck',
      })
    })

    test('link to the documents of their plan once they exist', async () => {
      const { owner, agent, runBy } = await start()
      const { relationships } = await runBy('script')
      const { executionId } = await agent.claim()
      for (const file of ['json-output', 'json-output-redacted', 'json-schema']) {
        const path = `/api/v2/plans/${relationships.plan.data.id}/${file}`
        expect([file, (await owner.get(path)).status]).toEqual([file, 204])
        expect((await agent.produce(executionId, file, `{"of":"${file}"}`)).status).toBe(204)
        const answer = expectStatus(await owner.get(path), 307)
        const document = await fetch(answer.headers.get('location') ?? '')
        expect(await document.json()).toEqual({ of: file })
      }
    })

    test('can be forced to stop ten seconds after they were asked to', async () => {
      const { owner, agent, runBy, statusOf } = await start()
      const { id } = await runBy('script')
      const { executionId } = await agent.claim()
      const act = async (action: string) => (await owner.post(`/api/v2/runs/${id}/actions/${action}`)).status
      expect([await act('force-cancel'), await act('cancel'), await act('force-cancel')]).toEqual([
        409, 202, 409,
      ])
      const { attributes } = (await owner.get(`/api/v2/runs/${id}`)).body.data
      const from = Date.parse(attributes['force-cancel-available-at'])
      expect(from - Date.parse(attributes['canceled-at'])).toBe(10_000)
      expect((await agent.heartbeat(executionId)).body).toEqual({ cancel: 'cancel' })
      await sleep(from - Date.now() + 50)
      expect(await act('force-cancel')).toBe(202)
      expect((await agent.heartbeat(executionId)).body).toEqual({ cancel: 'force' })
      expectStatus(await agent.say(executionId, 'finish', { status: 'canceled' }), 204)
      expect(await statusOf(id)).toBe('force_canceled')
    }, 30_000)

    test('with a saved plan are discarded once the state has moved on', async () => {
      const { agent, runBy, plan, statusOf } = await start()
      const saved = await runBy('cloud', { 'save-plan': true })
      expect((await plan()).id).toBe(saved.id)
      expect(await statusOf(saved.id)).toBe('planned_and_saved')
      const other = await runBy('script', { 'auto-apply': true })
      expect((await plan()).id).toBe(other.id)
      expect(await statusOf(saved.id)).toBe('planned_and_saved')
      const { executionId } = await agent.claim()
      expect((await agent.saveState(executionId, STATE)).status).toBe(204)
      expect(await statusOf(saved.id)).toBe('discarded')
    })

    test('fail no earlier than two seconds after their plan where somebody may watch', async () => {
      const { owner, agent, workspaceId, runBy, plan } = await start()
      const holds: unknown[] = []
      for (const client of ['cloud', 'script'] as const) {
        const { id } = await runBy(client, { 'auto-apply': true })
        await plan()
        const { executionId, holdFailureUntil } = await agent.claim()
        const { attributes } = (await owner.get(`/api/v2/runs/${id}`)).body.data
        const planned = Math.floor(Date.parse(attributes['status-timestamps']['planned-at']) / 1000)
        holds.push(holdFailureUntil && Math.floor(Date.parse(holdFailureUntil) / 1000) - planned)
        expectStatus(await agent.say(executionId, 'finish', { status: 'errored', error: 'no' }), 204)
      }
      expect(holds).toEqual([2, undefined])
      expect((await newRun(owner, workspaceId)).attributes.status).toBe('plan_queued')
    })

    test('can be discarded while they wait', async () => {
      const { owner, runBy, statusOf } = await start()
      const [first, second] = [await runBy('script'), await runBy('script')]
      expect(second.attributes).toMatchObject({ status: 'pending', actions: { 'is-discardable': true } })
      expect(first.attributes.actions['is-discardable']).toBe(false)
      expectStatus(await owner.post(`/api/v2/runs/${second.id}/actions/discard`), 202)
      expect(await statusOf(second.id)).toBe('discarded')
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
