import { inTransaction } from '../src/db/transaction.ts'
import * as runs from '../src/features/runs/service.ts'
import { type Client, expectStatus, type TestServer } from './harness.ts'
import { asSecondServer } from './jobs.ts'

/** Takes a queued run to its end as a worker would that finds something to change, on a server that has none. */
export async function applyRun(server: TestServer, client: Client, id: string): Promise<void> {
  const happen = (...events: runs.RunEvent[]) =>
    asSecondServer(server, async (ctx) => {
      for (const event of events) {
        await inTransaction(ctx, async (tx) => runs.advance(tx, (await runs.find(tx, id)) as runs.Run, event))
      }
    })
  await happen('startPlan', 'finishPlan')
  expectStatus(await client.post(`/api/v2/runs/${id}/actions/apply`, {}), 202)
  await happen('startApply', 'finishApply')
}
