import { createReadStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { useLocalState } from './backend.ts'
import type { Assignment } from './channel.ts'
import { bundledProviders, makeCliConfig } from './cli-config.ts'
import { findWorkingDirectory, type Places } from './directory.ts'
import { Engine } from './engine.ts'
import { makeEnvironment } from './environment.ts'
import { fetchTo, type Job, outFile, PLAN_FILE, type ReadyJob } from './job.ts'
import type { EngineOptions } from './options.ts'
import { preamble } from './output.ts'
import { PLATFORM } from './platform.ts'
import { borrowPlugins, isTrustworthy, sharePlugins } from './plugin-cache.ts'
import { retry } from './retry.ts'
import { withTarget } from './sandbox.ts'
import { unpackSlug } from './slug.ts'
import type { EngineBinary } from './versions.ts'

const LOCK_FILE = '.terraform.lock.hcl'

/** What must not be seen in the log of a run. */
export function secretsOf({ terraformVariables, environmentVariables, sshKey, token }: Assignment): string[] {
  const sensitive = [...terraformVariables, ...environmentVariables].filter((variable) => variable.sensitive)
  return [...sensitive.map(({ value }) => value), token, ...(sshKey ? [sshKey] : [])]
}

/** Makes the directory of a run ready, up to and with the engine's own preparations. */
export async function prepare(job: Job): Promise<ReadyJob> {
  const binary = await chooseEngine(job)
  const cwd = await fetchConfiguration(job)
  const { assignment, places, options, stop, output } = job
  const statePath = await useLocalState(cwd, places.state, assignment.workspace.name)
  await fetchTo(job, 'state', statePath)
  await fetchTo(job, 'lock-file', join(cwd, LOCK_FILE))
  if (assignment.phase === 'apply') await fetchTo(job, 'plan', outFile(job, PLAN_FILE))
  stop.check()

  const bundled = bundledProviders(cwd)
  const env = await makeSurroundings(job, bundled)
  const { sandbox } = options
  await borrowPlugins(options.pluginCacheDir, places.plugins)
  const engine = new Engine({
    binary: binary.binary,
    env,
    view: { cwd, ...viewOf(options, places, binary) },
    sandbox,
    output,
    stop,
    debugging: assignment.run.debuggingMode,
  })
  await engine.init()
  if (isTrustworthy(assignment.environmentVariables, bundled)) {
    await sharePlugins(options.pluginCacheDir, places.plugins)
  }
  return { ...job, engine, cwd, statePath }
}

/** The lock file that `init` has left. */
export function lockFileOf({ cwd }: ReadyJob): string {
  return join(cwd, LOCK_FILE)
}

async function chooseEngine({ assignment, channel, options, output, signal }: Job): Promise<EngineBinary> {
  try {
    const { terraformVersion, engineVersions } = assignment
    const engine = await options.engines.resolve(terraformVersion, engineVersions)
    await output.print(preamble(engine.version, PLATFORM))
    const report = { terraformVersion: engine.version, sandbox: options.sandbox }
    await retry(() => channel.report(assignment.executionId, report), { signal })
    return engine
  } catch (error) {
    await output.print(preamble(undefined, PLATFORM))
    throw error
  }
}

/** Unpacks the configuration; returns the working directory in it. */
async function fetchConfiguration(job: Job): Promise<string> {
  const { places, assignment, stop } = job
  const { workingDirectory } = assignment.workspace
  const slug = outFile(job, 'configuration.tar.gz')
  if (await fetchTo(job, 'configuration', slug)) {
    stop.check()
    await unpackSlug(createReadStream(slug), places.config)
    await rm(slug)
  } else {
    // What was made by a configuration can be destroyed without one.
    await mkdir(join(places.config, workingDirectory), { recursive: true })
  }
  return findWorkingDirectory(places.config, workingDirectory)
}

async function makeSurroundings(job: Job, bundled: string | undefined): Promise<Record<string, string>> {
  const { assignment, places, options, output } = job
  const cliConfig = join(places.home, 'cli.tfrc')
  const { serverUrl, token, mirror } = assignment
  const { providersDir } = options
  const { plugins } = places
  const text = await makeCliConfig({ serverUrl, token, mirror, plugins, providersDir, bundled })
  await writeFile(cliConfig, text, { mode: 0o600 })
  const sshKey = assignment.sshKey === undefined ? undefined : join(places.home, 'ssh-key')
  if (sshKey) await writeFile(sshKey, `${assignment.sshKey?.trimEnd()}\n`, { mode: 0o600 })
  const { env, ignored } = makeEnvironment(assignment, {
    home: places.home,
    temporary: options.sandbox === 'bwrap' ? '/tmp' : places.temporary,
    cliConfig,
    sshKey,
    base: options.environment ?? {},
  })
  for (const name of ignored) {
    await output.say('warning', `The environment variable ${name} is the platform's own, and was left out`)
  }
  return env
}

function viewOf(options: EngineOptions, places: Places, { binary }: EngineBinary) {
  const { engines, pluginCacheDir, providersDir, environment = {} } = options
  const certificates = [environment['SSL_CERT_FILE'], environment['SSL_CERT_DIR']]
  const readable = [engines.directory, binary, pluginCacheDir, providersDir, ...certificates]
  return {
    writable: [places.root],
    readable: readable.flatMap((path) => (path === undefined ? [] : withTarget(path))),
  }
}
