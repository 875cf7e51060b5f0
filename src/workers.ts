import { join } from 'node:path'
import type { Services } from './context.ts'
import type { Runner } from './engine/runner.ts'
import { chooseSandbox } from './engine/sandbox.ts'
import { localChannel } from './features/executions/local-channel.ts'
import * as terraformVersions from './features/terraform-versions/service.ts'

const UNCONFINED =
  'runs are carried out without a sandbox: what they execute can read what the server can (docs/operations.md)'

/**
 * Begins to start the server's own workers, which carry out runs; there are none where the configuration says so.
 * Nobody waits for the engine to tell its version, except who insists on a sandbox: without one, the server does not
 * start. Returns how to stop them.
 */
export async function startWorkers(services: Services): Promise<() => Promise<void>> {
  const { runs } = services.config
  if (runs.workers === 0) return async () => {}
  const starting = startRunner(services)
  if (runs.sandbox === 'bwrap') await starting
  starting.catch((error: unknown) => {
    services.log.error({ err: error }, 'the workers did not start: no run is carried out by this server')
  })
  return async () => {
    const runner = await starting.catch(() => undefined)
    await runner?.stop()
  }
}

async function startRunner(services: Services): Promise<Runner> {
  const { dataDir, runs } = services.config
  const [{ Runner }, { Engines }] = await Promise.all([
    import('./engine/runner.ts'),
    import('./engine/versions.ts'),
  ])
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
