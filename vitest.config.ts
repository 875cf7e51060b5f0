import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/sequencer.ts'
import { Summary } from './test/summary.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', new Summary()],
    globalSetup: ['test/scratch.ts', 'test/postgres.ts', 'test/tls.ts'],
    // Modules hold no state of their own, so files can share a process: ten times faster than isolating them.
    isolate: false,
    // One more than there are processors: much of the time is waiting for other processes.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: SlowFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
