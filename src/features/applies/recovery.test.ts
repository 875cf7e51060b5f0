import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newAgentToken, newAgentWorkspace, newPool, WireAgent } from '../../../test/agents.ts'
import { findAtRest } from '../../../test/at-rest.ts'
import { expectStatus, onEachDialect, type TestOrganization } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import { newRun } from '../../../test/runs.ts'
import { put, rawState, stateResource } from '../../../test/states.ts'
import { sweepBlobs } from '../../blobs/jobs.ts'

onEachDialect(
  'the recovery link of a worker',
  (server) => {
    /** A run that a worker has, and the link that the worker has from the start. */
    const prepare = async (organization: TestOrganization) => {
      const poolId = await newPool(organization)
      const { secret } = await newAgentToken(organization, poolId)
      const agent = await WireAgent.register(server, secret)
      const workspace = await newAgentWorkspace(organization, poolId)
      const run = await newRun(organization.owner, workspace.id)
      const { recoveryUrl } = await agent.claim()
      const id = run.relationships.apply.data.id as string
      return { recoveryUrl, workspace, id, url: `/api/v2/applies/${id}/errored-state` }
    }
    const LARGE = rawState({
      resources: [
        stateResource(
          'many',
          Array.from({ length: 200 }, (_, n) => n),
        ),
      ],
    })

    test('takes a state, which is given back by another link each time', async () => {
      const organization = await server.organization()
      const { owner } = organization
      const { recoveryUrl, url } = await prepare(organization)
      expect(await owner.get(url)).toMatchObject({ status: 404 })
      expect((await put(recoveryUrl, 'an earlier attempt')).status).toBe(200)
      expect((await put(recoveryUrl, LARGE)).status).toBe(200)
      expect(LARGE.length).toBeGreaterThan(server.config.maxStateBytes)

      const answers = await Promise.all([owner.get(url), owner.get(url)])
      const locations = answers.map(({ headers }) => headers.get('location') as string)
      expect(new Set(locations).size).toBe(2)
      for (const { status, headers } of answers)
        expect([status, headers.get('content-type')]).toEqual([307, expect.stringMatching(/^text\/plain/)])
      const [location = ''] = locations
      expect(await (await fetch(location)).text()).toBe(LARGE)
      const expires = Number(new URL(location).pathname.split('/')[4])
      expect(expires * 1000 - Date.now()).toBeLessThanOrEqual(60_000)
      expect((await fetch(location.replace(`/${expires}/`, `/${expires + 60}/`))).status).toBe(404)
      expect(await findAtRest(server, '"serial": 1')).toEqual([])
    })

    test('keeps a state as long as there is the apply, and no longer', async () => {
      const organization = await server.organization()
      const { recoveryUrl, url, workspace, id } = await prepare(organization)
      await put(recoveryUrl, LARGE)
      const file = join(server.dataDir, 'blobs', 'errored-states', id)
      await runLater(server, sweepBlobs, 1)
      expect(await organization.owner.get(url)).toMatchObject({ status: 307 })
      expectStatus(await organization.owner.delete(`/api/v2/workspaces/${workspace.id}`), 204)
      expect(existsSync(file)).toBe(true)
      await runLater(server, sweepBlobs, 1)
      expect(existsSync(file)).toBe(false)
    })

    test('has a limit of its own, and is of no use for another apply', async () => {
      const organization = await server.organization()
      const { recoveryUrl, url } = await prepare(organization)
      expect((await put(recoveryUrl, Buffer.alloc(300_000))).status).toBe(413)
      expect(await organization.owner.get(url)).toMatchObject({ status: 404 })
      const other = await prepare(organization)
      expect((await put(recoveryUrl.replace(/apply-\w+/, other.id), LARGE)).status).toBe(404)
      expect((await fetch(recoveryUrl)).status).toBe(404)
    })
  },
  { PLINTH_MAX_STATE_BYTES: '1000', PLINTH_MAX_UPLOAD_BYTES: '200000', PLINTH_RUN_WORKERS: '0' },
)
