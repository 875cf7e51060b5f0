import type { Job } from '../jobs/job.ts'
import { addSeconds } from '../lib/time.ts'
import * as store from './store.ts'

/** A file is put in place before the row that makes it count; it gets this long for that. */
const GRACE_SECONDS = 3600

/** Removes what crashes left behind: bytes of uploads that never ended, and files that no row knows. */
export const sweepBlobs: Job = {
  name: 'blobs.sweep',
  leaseSeconds: 60,
  everySeconds: 3600,
  async run(ctx, _payload, signal) {
    await ctx.blobs.sweepStaging()
    const oldest = addSeconds(ctx.now(), -GRACE_SECONDS)
    for await (const { key, storedAt } of ctx.blobs.list()) {
      if (signal.aborted) return
      if (storedAt < oldest && !(await store.find(ctx.db, key))) await ctx.blobs.remove(key)
    }
  },
}
