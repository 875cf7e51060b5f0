import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { onTestFinished } from 'vitest'
import type { Assignment, Outcome } from '../../src/engine/channel.ts'
import { Runner, type RunnerOptions } from '../../src/engine/runner.ts'
import { Engines } from '../../src/engine/versions.ts'
import { newId } from '../../src/lib/ids.ts'
import { DirectoryChannel } from './directory-channel.ts'

/** Files of a configuration, by their names. */
export type Files = Record<string, string>

/** What differs from a run of the plainest kind. */
export interface Wish {
  run?: Partial<Assignment['run']>
  assignment?: Partial<Omit<Assignment, 'run'>>
}

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'plinth-engine-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A configuration as it is uploaded. */
export async function makeSlug(files: Files): Promise<Buffer> {
  const tar = pack()
  for (const [name, text] of Object.entries(files)) tar.entry({ name }, text)
  tar.finalize()
  return buffer(tar.pipe(createGzip()))
}

/** A worker with the engine of this machine, and the server that it works for. */
export class Bench {
  readonly path = temporaryDirectory()
  readonly channel = new DirectoryChannel(join(this.path, 'server'))
  readonly workDir = join(this.path, 'runs')
  readonly complaints: string[] = []
  #runner: Runner | undefined

  /** The options of the worker, which is at work when this returns. */
  async start(binary: string, options: Partial<RunnerOptions> = {}): Promise<Runner> {
    const complain = (_fields: object, message: string) => void this.complaints.push(message)
    const runner = new Runner(this.channel, {
      workDir: this.workDir,
      engines: await Engines.open({
        directory: join(this.path, 'engines'),
        mirror: undefined,
        path: dirname(binary),
      }),
      log: { info: () => {}, warn: complain, error: complain },
      sandbox: 'none',
      pluginCacheDir: join(this.path, 'plugin-cache'),
      workers: 2,
      heartbeatMs: 50,
      ...options,
    })
    runner.start()
    onTestFinished(() => runner.stop())
    this.#runner = runner
    return runner
  }

  /** Stops the worker. */
  async stop(): Promise<void> {
    await this.#runner?.stop()
  }

  /** Makes a run of a configuration; its phases are queued by `plan` and `apply`. */
  async run(files: Files, wish: Wish = {}): Promise<BenchRun> {
    const run = new BenchRun(this.channel, wish)
    await run.upload(await makeSlug(files))
    return run
  }

  /** Plans and applies, and returns the run. */
  async apply(files: Files, wish: Wish = {}): Promise<{ run: BenchRun; plan: Outcome; apply: Outcome }> {
    const run = await this.run(files, wish)
    const plan = await run.plan()
    return { run, plan, apply: await run.apply() }
  }
}

export class BenchRun {
  readonly id = newId('run')
  readonly #channel: DirectoryChannel
  readonly #wish: Wish

  constructor(channel: DirectoryChannel, wish: Wish) {
    this.#channel = channel
    this.#wish = wish
  }

  async upload(slug: Buffer): Promise<void> {
    await writeFile(this.#channel.file(this.id, 'configuration'), slug)
  }

  plan(): Promise<Outcome> {
    return this.#channel.run(this.#assignment('plan'))
  }

  apply(): Promise<Outcome> {
    return this.#channel.run(this.#assignment('apply'))
  }

  execution(phase: 'plan' | 'apply'): string {
    return `${this.id}-${phase}`
  }

  log(phase: 'plan' | 'apply'): string {
    return this.#channel.log(this.execution(phase))
  }

  json(name: string) {
    return this.#channel.json(this.id, name)
  }

  #assignment(phase: 'plan' | 'apply'): Assignment {
    return {
      executionId: this.execution(phase),
      phase,
      run: {
        id: this.id,
        isDestroy: false,
        refresh: true,
        refreshOnly: false,
        planOnly: false,
        allowConfigGeneration: false,
        debuggingMode: false,
        structuredOutput: true,
        targetAddrs: [],
        replaceAddrs: [],
        variables: [],
        ...this.#wish.run,
      },
      organization: 'acme',
      project: 'Default Project',
      workspace: { id: 'ws-1', name: 'network', workingDirectory: '' },
      terraformVersion: 'latest',
      terraformVariables: [],
      environmentVariables: [],
      sshKey: undefined,
      serverUrl: 'https://plinth.example.com',
      token: 'plinth_token-of-the-run',
      recoveryUrl: 'https://plinth.example.com/recovery',
      timeout: 120,
      holdFailureUntil: undefined,
      ...this.#wish.assignment,
    }
  }
}
