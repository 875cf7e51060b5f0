import type { Job } from '../../jobs/job.ts'
import * as service from './service.ts'

/** Removes versions that were never finished. */
export const removeAbandonedDrafts: Job = {
  name: 'registry.remove-abandoned-drafts',
  leaseSeconds: 60,
  everySeconds: 24 * 3600,
  run: (ctx, _payload, signal) => service.removeAbandonedDrafts(ctx, signal),
}
