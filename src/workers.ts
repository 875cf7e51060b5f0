import { join } from 'node:path'
import type { Services } from './context.ts'
import { Runner } from './engine/runner.ts'
import { chooseSandbox } from './engine/sandbox.ts'
import { Engines } from './engine/versions.ts'
import { localChannel } from './features/executions/local-channel.ts'
import * as terraformVersions from './features/terraform-versions/service.ts'

const UNCONFINED =
  'runs are carried out without a sandbox: what they execute can read what the server can (docs/operations.md)'

/** Starts the server's own workers, which carry out runs; there are none where the configuration says so. */
export async function startWorkers(services: Services): Promise<Runner | undefined> {
  const { dataDir, runs } = services.config
  if (runs.workers === 0) return undefined
  const sandbox = chooseSandbox(runs.sandbox)
  if (sandbox === 'none') services.log.warn(UNCONFINED)
  const engines = await Engines.open({
    directory: runs.enginesDir,
    mirror: runs.engineMirror,
    path: runs.enginePath,
  })
  await terraformVersions.addFound(services, await engines.list())
  const runner = new Runner(localChannel(services), {
    workers: runs.workers,
    workDir: runs.workDir,
    engines,
    sandbox,
    pluginCacheDir: join(dataDir, 'plugins'),
    environment: runs.environment,
    log: services.log,
  })
  runner.start()
  return runner
}
