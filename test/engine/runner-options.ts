import { dirname, join } from 'node:path'
import type { RunnerOptions } from '../../src/engine/runner.ts'
import { Engines } from '../../src/engine/versions.ts'

/** The options of a worker whose directories are all below one, and which has the engine of this machine. */
export async function runnerOptions(path: string, binary: string): Promise<RunnerOptions> {
  const directory = join(path, 'engines')
  return {
    workDir: join(path, 'runs'),
    engines: await Engines.open({ directory, mirror: undefined, path: dirname(binary) }),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    sandbox: 'none',
    pluginCacheDir: join(path, 'plugin-cache'),
    workers: 2,
    heartbeatMs: 50,
  }
}
