import type { Job } from '../../jobs/job.ts'
import * as service from './service.ts'

/** Notices agents that are not heard of any more. */
export const watchAgents: Job = {
  name: 'agents.watch',
  leaseSeconds: 60,
  everySeconds: 30,
  run: (ctx) => service.judgeSilence(ctx),
}
