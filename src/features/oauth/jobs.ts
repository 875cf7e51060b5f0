import type { Job } from '../../jobs/job.ts'
import * as service from './service.ts'

/** Removes authorization codes that nobody can use any more. */
export const sweepCodes: Job = {
  name: 'oauth.sweep',
  leaseSeconds: 60,
  everySeconds: 3600,
  run: (ctx) => service.removeExpired(ctx),
}
