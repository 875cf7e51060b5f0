import type { Job } from '../../jobs/job.ts'
import { removeForgotten } from '../sign-in-attempts/service.ts'
import * as service from './service.ts'

/** Removes sessions that have ended, and attempts to sign in that no longer count. */
export const sweepSessions: Job = {
  name: 'sessions.sweep',
  leaseSeconds: 60,
  everySeconds: 3600,
  async run(ctx) {
    await service.removeEnded(ctx)
    await removeForgotten(ctx)
  },
}
