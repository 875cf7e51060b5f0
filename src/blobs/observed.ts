import type { Metrics } from '../lib/metrics.ts'
import type { BlobStore } from './blob-store.ts'

/** The same store, with its operations timed and the bytes it receives counted. */
export function observeBlobs(store: BlobStore, metrics: Metrics): BlobStore {
  const timed = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    const started = performance.now()
    try {
      return await run()
    } finally {
      metrics.blobOperationEnded(operation, (performance.now() - started) / 1000)
    }
  }
  return {
    stage: async (source, maxBytes) => {
      const staged = await timed('stage', () => store.stage(source, maxBytes))
      metrics.uploaded(staged.size)
      return { ...staged, store: (key) => timed('store', () => staged.store(key)) }
    },
    read: (key, range) => timed('read', () => store.read(key, range)),
    size: (key) => store.size(key),
    remove: (key) => timed('remove', () => store.remove(key)),
    list: () => store.list(),
    sweepStaging: () => store.sweepStaging(),
    check: () => store.check(),
  }
}
