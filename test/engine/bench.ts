import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { onTestFinished } from 'vitest'
import type { Outcome } from '../../src/engine/channel.ts'
import { Runner, type RunnerOptions } from '../../src/engine/runner.ts'
import { BenchRun, type Wish } from './bench-run.ts'
import { DirectoryChannel } from './directory-channel.ts'
import { runnerOptions } from './runner-options.ts'

/** Files of a configuration, by their names. */
export type Files = Record<string, string | Buffer>

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'plinth-engine-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A configuration as it is uploaded. */
export async function makeSlug(files: Files): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) {
    tar.entry({ name }, typeof content === 'string' ? Buffer.from(content) : content)
  }
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
    const log = { info: () => {}, warn: complain, error: complain }
    const runner = new Runner(this.channel, { ...(await runnerOptions(this.path, binary)), log, ...options })
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
