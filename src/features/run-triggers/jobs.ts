import type { Ctx } from '../../context.ts'
import { enqueue, type Job } from '../../jobs/job.ts'
import type { Run, RunEvent } from '../runs/service.ts'
import * as service from './service.ts'

/** Makes the runs that an applied run sets off. */
export const setOffRuns: Job = {
  name: 'run-triggers.set-off',
  leaseSeconds: 60,
  run: (ctx, { runId = '' }) => service.setOff(ctx, runId),
}

/** Not in the transaction of the run: it holds its workspace, and those that it sets off may set off its own. */
export async function noteApplied(tx: Ctx, { id, workspaceId }: Run, event: RunEvent): Promise<void> {
  if (event === 'finishApply' && (await service.hasOutbound(tx, workspaceId)))
    await enqueue(tx, setOffRuns, { runId: id })
}
