import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { Client } from '../../src/agent/client.ts'
import { RemoteChannel } from '../../src/agent/remote-channel.ts'
import { type Assignment, LostExecution, StateRefused } from '../../src/engine/channel.ts'
import { newAgentToken, newPool, queueRun } from '../agents.ts'
import { expectStatus, onEachDialect } from '../harness.ts'
import { readLog, untilRun } from '../runs.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const never = new AbortController().signal

const stateOf = (serial: number) =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage: 'f5b3c1de-0000-4000-8000-000000000001',
    outputs: {},
    resources: [],
  })

onEachDialect(
  'the channel of an agent',
  (server) => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-channel-'))
    afterAll(() => rmSync(directory, { recursive: true, force: true }))
    const file = (name: string, content: string) => {
      writeFileSync(join(directory, name), content)
      return join(directory, name)
    }

    const start = async () => {
      const organization = await server.organization()
      const poolId = await newPool(organization)
      const token = await newAgentToken(organization, poolId)
      const rejections: string[] = []
      const channel = new RemoteChannel(
        new Client(server.url, token.secret),
        { name: 'build-7', version: '0.1.0' },
        silent,
        (reason) => rejections.push(reason),
      )
      const claimPlan = async (attributes: object = {}) => {
        const run = await queueRun(organization, poolId, attributes)
        return { run, assignment: (await channel.claim(never)) as Assignment }
      }
      const claimApply = async () => {
        const { assignment } = await claimPlan({ 'auto-apply': true })
        await channel.produce(assignment.executionId, 'plan', file('tfplan', 'a plan'))
        await channel.finish(assignment.executionId, { status: 'finished', hasChanges: true })
        return (await channel.claim(never)) as Assignment
      }
      return { owner: organization.owner, token, rejections, channel, claimPlan, claimApply }
    }

    test('takes long logs to the last byte, told twice or not', async () => {
      const { owner, channel, claimPlan } = await start()
      const { run, assignment } = await claimPlan()
      // Characters of four bytes, which are two of JavaScript, at odd places.
      const long = `x${'🜲'.repeat(300_000)}\n`
      await channel.appendLog(assignment.executionId, 0, long)
      await channel.appendLog(assignment.executionId, 0, long)
      await channel.appendLog(assignment.executionId, Buffer.byteLength(long), 'end\n')
      await channel.finish(assignment.executionId, { status: 'finished', hasChanges: false })
      const { relationships } = await untilRun(owner, run.id, ['planned_and_finished'])
      expect((await readLog(owner, 'plans', relationships.plan.data.id)) === `${long}end\n`).toBe(true)
    })

    test('carries files and states both ways', async () => {
      const { owner, channel, claimApply } = await start()
      const { executionId, workspace } = await claimApply()
      const fetched = await channel.fetch(executionId, 'plan')
      expect(fetched && (await text(fetched))).toBe('a plan')
      expect(await channel.fetch(executionId, 'state')).toBeUndefined()
      expect(await channel.heartbeat(executionId)).toBeNull()
      await channel.report(executionId, { terraformVersion: '1.11.4', sandbox: 'none' })
      const path = file('state', stateOf(1))
      await channel.saveState(executionId, path, file('json', '{"format_version":"1.0","values":{}}'))
      await channel.finish(executionId, { status: 'finished' })
      const current = `/api/v2/workspaces/${workspace.id}/current-state-version`
      const { attributes } = expectStatus(await owner.get(current), 200).body.data
      expect(await (await fetchAs(owner.token, attributes['hosted-state-download-url'])).text()).toBe(
        stateOf(1),
      )
      expect(await (await fetchAs(owner.token, attributes['hosted-json-state-download-url'])).text()).toBe(
        '{"format_version":"1.0","values":{}}',
      )
    })

    test('tells what is refused from what is lost, and from what may pass', async () => {
      const { owner, token, channel, claimApply, rejections } = await start()
      const assignment = await claimApply()
      const { executionId } = assignment
      for (const [name, content] of [
        ['broken', 'no state'],
        ['large', 'x'.repeat(200_000)],
      ] as const) {
        await expect(channel.saveState(executionId, file(name, content), undefined)).rejects.toThrow(
          StateRefused,
        )
      }
      await channel.keepErroredState(assignment, file('large', 'x'.repeat(200_000)))
      await expect(channel.heartbeat('exec-none')).rejects.toThrow(LostExecution)
      const away = new RemoteChannel(
        new Client('https://127.0.0.1:1', token.secret),
        { name: 'x', version: '1' },
        silent,
        () => {},
      )
      const failure = await away.heartbeat(executionId).catch((error: unknown) => error)
      expect(failure).not.toBeInstanceOf(LostExecution)
      expect(String(failure)).not.toContain(token.secret)

      expectStatus(await owner.delete(`/api/v2/authentication-tokens/${token.id}`), 204)
      await expect(channel.heartbeat(executionId)).rejects.toThrow(LostExecution)
      expect(await channel.claim(AbortSignal.timeout(5000))).toBeUndefined()
      expect(rejections).toEqual(['the server does not take the token'])
    })

    test('makes the agent known again when somebody has deleted it', async () => {
      const { owner, channel, claimPlan, rejections } = await start()
      const id = await channel.register(never)
      await channel.leave()
      expectStatus(await owner.delete(`/api/v2/agents/${id}`), 204)
      expect(await channel.claim(never)).toBeUndefined()
      expect((await claimPlan()).assignment.phase).toBe('plan')
      expect(rejections).toEqual([])
    })

    test('is not counted against the rate of requests, of which it needs many', async () => {
      const { channel, claimPlan } = await start()
      const { assignment } = await claimPlan()
      for (let count = 0; count < 400; count++) await channel.heartbeat(assignment.executionId)
    })
  },
  { PLINTH_RUN_WORKERS: '0', PLINTH_MAX_STATE_BYTES: '100000', PLINTH_RATE_LIMIT: '100' },
)

function fetchAs(token: string | undefined, url: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${token}` } })
}
