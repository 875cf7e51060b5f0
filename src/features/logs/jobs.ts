import type { Job } from '../../jobs/job.ts'
import * as service from './service.ts'

/** Logs moved in one go. */
const BATCH = 200

/** Keeps the database small: it holds the logs that are being written, and no others for long. */
export const moveLogs: Job = {
  name: 'logs.move',
  leaseSeconds: 60,
  everySeconds: 30,
  async run(ctx, _payload, signal) {
    for (const log of await service.listEnded(ctx, BATCH)) {
      if (signal.aborted) return
      await service.moveOut(ctx, log)
    }
  },
}
