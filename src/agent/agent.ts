import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { AgentConfig } from '../config/agent.ts'
import { ConfigError } from '../config/config.ts'
import type { Channel } from '../engine/channel.ts'
import type { WorkerLog } from '../engine/options.ts'
import { Runner, type RunnerOptions } from '../engine/runner.ts'
import { chooseSandbox } from '../engine/sandbox.ts'
import { Engines } from '../engine/versions.ts'
import { Backoff, Client, Refusal } from './client.ts'
import { RemoteChannel } from './remote-channel.ts'

export interface RunningAgent {
  /** What the server knows it by. */
  id: string
  /** Ends what it carries out, tells the server, and resolves. */
  stop: () => Promise<void>
  /** Resolves when it has ended, whoever wanted that; with the reason when it could not go on. */
  ended: Promise<string | undefined>
}

/**
 * Takes runs from the server and carries them out, until it is stopped. Waits for a server that cannot be reached until
 * `signal` aborts; throws a `ConfigError` when the server does not take the token.
 */
export async function startAgent(
  config: AgentConfig,
  log: WorkerLog,
  signal: AbortSignal,
): Promise<RunningAgent> {
  if (config.ca) trust(config.ca)
  const ending = Promise.withResolvers<string | undefined>()
  let runner: Runner | undefined
  let stopped: Promise<void> | undefined
  const stop = (reason?: string): Promise<void> => {
    stopped ??= (async () => {
      await runner?.stop()
      await channel.leave().catch(() => log.warn({}, 'the server could not be told that the agent ends'))
      ending.resolve(reason)
    })()
    return stopped
  }
  const end = (reason?: string): void => {
    stop(reason).catch((error: unknown) => ending.resolve(String(error)))
  }
  const identity = { name: config.name, version: programVersion() }
  const channel = new RemoteChannel(new Client(config.address, config.token), identity, log, end)
  const options = await optionsOf(config, log)
  const id = await register(channel, log, signal)
  if (config.single) endAfterOne(channel, end)
  runner = new Runner(channel, options)
  runner.start()
  return { id, stop: () => stop(), ended: ending.promise }
}

async function optionsOf({ runs, dataDir, single }: AgentConfig, log: WorkerLog): Promise<RunnerOptions> {
  const { enginesDir, engineMirror, enginePath, workDir, environment, workers } = runs
  return {
    workers: single ? 1 : workers,
    workDir,
    engines: await Engines.open({ directory: enginesDir, mirror: engineMirror, path: enginePath }),
    log,
    sandbox: chooseSandbox(runs.sandbox),
    pluginCacheDir: join(dataDir, 'plugin-cache'),
    environment,
  }
}

async function register(channel: RemoteChannel, log: WorkerLog, signal: AbortSignal): Promise<string> {
  const backoff = new Backoff()
  for (;;) {
    try {
      return await channel.register(signal)
    } catch (error) {
      if (signal.aborted) throw new ConfigError('It was stopped before the server could be reached.')
      const status = error instanceof Refusal ? error.status : undefined
      if (status === 401) throw new ConfigError('The server does not take the token.')
      if (status === 404) throw new ConfigError('The token is not one of a pool of agents of this server.')
      log.warn({ err: error }, 'the server could not be reached; trying again')
      await backoff.wait(signal)
    }
  }
}

/** Certificates of an authority of one's own, beside those that are trusted anyway. */
function trust(path: string): void {
  try {
    setDefaultCACertificates([...getCACertificates('default'), readFileSync(path, 'utf8')])
  } catch (error) {
    throw new ConfigError(`PLINTH_AGENT_CA must be a file with certificates: ${(error as Error).message}`)
  }
}

/** Asked for a second run, the agent ends: the first is over then. */
function endAfterOne(channel: Channel, end: () => void): void {
  const claim = channel.claim.bind(channel)
  let isTaken = false
  channel.claim = async (signal) => {
    if (isTaken) {
      end()
      await sleep(2 ** 31 - 1, undefined, { signal }).catch(() => {})
      return undefined
    }
    const assignment = await claim(signal)
    isTaken = assignment !== undefined
    return assignment
  }
}

function programVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
