import { expect, test } from 'vitest'
import { newAgentToken, newAgentWorkspace, newPool, WireAgent } from '../../../test/agents.ts'
import { onEachDialect } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { newRun } from '../../../test/runs.ts'
import { reap } from './reaping.ts'

onEachDialect(
  'workers whose lease has ended',
  (server) => {
    test('are given up by a server that has looked a moment ago, and not by one that was away too', async () => {
      const organization = await server.organization()
      const { owner } = organization
      const poolId = await newPool(organization)
      const { secret } = await newAgentToken(organization, poolId)
      const agent = await WireAgent.register(server, secret)
      const workspace = await newAgentWorkspace(organization, poolId)
      const run = await newRun(owner, workspace.id)
      await agent.claim()
      const status = async () => (await owner.get(`/api/v2/runs/${run.id}`)).body.data.attributes.status

      const tomorrow = 1
      await asSecondServer(
        server,
        async (ctx) => {
          const later = (seconds: number) => ({
            ...ctx,
            now: () => new Date(Date.parse(ctx.now()) + seconds * 1000).toISOString(),
          })
          await reap(ctx)
          expect(await status()).toBe('planning')
          await reap(later(60))
          expect(await status()).toBe('planning')
          await reap(later(65))
          expect(await status()).toBe('errored')
        },
        tomorrow,
      )
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
