import type { Ctx } from '../context.ts'
import type { Job } from '../jobs/job.ts'
import { addSeconds } from '../lib/time.ts'
import * as store from './store.ts'

/** A file is put in place before the row that makes it count; it gets this long for that. */
const GRACE_SECONDS = 3600

/** Whether a file that no row knows is still wanted. */
type Wanted = (ctx: Ctx, name: string) => Promise<boolean>

const wanted = new Map<string, Wanted>()

/** Lets files below `directory` stay without a row as long as `isWanted` says so of their names. */
export function keepWithoutRow(directory: string, isWanted: Wanted): void {
  wanted.set(directory, isWanted)
}

async function isKept(ctx: Ctx, key: string): Promise<boolean> {
  const [directory = '', ...name] = key.split('/')
  return (await wanted.get(directory)?.(ctx, name.join('/'))) ?? (await store.find(ctx.db, key)) !== undefined
}

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
      if (storedAt < oldest && !(await isKept(ctx, key))) await ctx.blobs.remove(key)
    }
  },
}
