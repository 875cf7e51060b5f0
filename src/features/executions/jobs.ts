import type { Job } from '../../jobs/job.ts'
import { reap } from './reaping.ts'

/** Ends the executions of dead workers; with their lease it takes less than a minute until a run is told of it. */
export const reapExecutions: Job = {
  name: 'executions.reap',
  leaseSeconds: 60,
  everySeconds: 5,
  run: (ctx) => reap(ctx),
}
