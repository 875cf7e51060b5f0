import { open } from 'node:fs/promises'
import { DumpCatcher } from './dump.ts'
import type { Output, Sink } from './output.ts'
import { type Ended, RunningProgram } from './process.ts'
import type { SandboxKind, View } from './sandbox.ts'
import type { Stop } from './stop.ts'
import { Tally } from './tally.ts'

/** How long the engine may take to show what it has done. */
const SHOW_MS = 120_000

/** The backend is the platform's, and would only surprise people. */
const OF_THE_BACKEND = /Initializing the backend\.\.\.\n(\nSuccessfully configured the backend[^.]*\.\n)?/

/** The engine failed; what it said is in the log. */
export class EngineError extends Error {
  override name = 'EngineError'
}

interface Worked {
  code: number
  /** What it said that it did. */
  tally: Tally
  /** The state, when it could not be written. */
  dumped: string | undefined
}

type Take = (chunk: Buffer) => Promise<void> | void

interface Surroundings {
  binary: string
  env: Record<string, string>
  view: View
  sandbox: SandboxKind
  output: Output
  stop: Stop
  /** Whether everything that it says of itself is wanted. */
  debugging: boolean
}

/** The engine in the directory of a run. */
export class Engine {
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Prepares the directory; what it prints is of interest only when it fails. */
  async init(): Promise<void> {
    const { output, debugging } = this.#surroundings
    const errors = output.text()
    const tally = new Tally()
    const printed: Buffer[] = []
    const hold = (chunk: Buffer) => {
      tally.text(chunk)
      printed.push(chunk)
    }
    const onStderr = debugging ? watched(errors, tally).write : hold
    const ended = await this.#run(['init', '-input=false', '-no-color'], hold, onStderr)
    await errors.end()
    if (ended.code === 0) return
    await output.print(Buffer.concat(printed).toString().replace(OF_THE_BACKEND, ''))
    throw new EngineError(
      ended.error ? `the engine cannot be started: ${ended.error.message}` : `init failed: ${tally.error}`,
    )
  }

  /** Plans or applies, with the log as its terminal. */
  async work(args: readonly string[]): Promise<Worked> {
    const { output } = this.#surroundings
    const tally = new Tally()
    const [command = '', ...rest] = args
    const json = output.structured ? ['-json'] : []
    const people = () => watched(output.text(), tally)
    const stdout = catching(output.structured ? output.events((event) => tally.event(event)) : people())
    // Without JSON, errors are told on the other stream.
    const stderr = catching(output.structured ? output.text() : people())
    const all = [command, '-input=false', '-no-color', ...json, ...rest]
    const { code } = await this.#run(all, stdout.write, stderr.write)
    await stdout.end()
    await stderr.end()
    return { code, tally, dumped: stdout.dumped() ?? stderr.dumped() }
  }

  /** Writes what a command prints into a file. It is not stopped with the phase: it tells what has happened. */
  async show(args: readonly string[], path: string): Promise<void> {
    const file = await open(path, 'w', 0o600)
    const errors: Buffer[] = []
    const program = this.#start(
      args,
      (chunk) => file.appendFile(chunk),
      (chunk) => void errors.push(chunk),
    )
    const timer = setTimeout(() => program.kill(), SHOW_MS)
    const { code, error } = await program.ended
    clearTimeout(timer)
    await file.close()
    if (code !== 0 || error) {
      throw new EngineError(
        `${args.slice(0, 2).join(' ')} failed: ${error?.message ?? Buffer.concat(errors)}`,
      )
    }
  }

  async #run(args: readonly string[], onStdout: Take, onStderr: Take): Promise<Ended> {
    const { stop } = this.#surroundings
    stop.check()
    const program = this.#start(args, onStdout, onStderr)
    return stop.during(program, program.ended)
  }

  #start(args: readonly string[], onStdout: Take, onStderr: Take): RunningProgram {
    const { binary, env, view, sandbox } = this.#surroundings
    return new RunningProgram({ file: binary, args, env, view, sandbox, onStdout, onStderr })
  }
}

/** Keeps a state that is printed from the sink. */
function catching(sink: Sink): Sink & { dumped: () => string | undefined } {
  const catcher = new DumpCatcher()
  return {
    write: (chunk) => sink.write(catcher.push(chunk)),
    end: async () => {
      await sink.write(catcher.end())
      await sink.end()
    },
    dumped: () => catcher.state,
  }
}

/** Tells the tally what passes. */
function watched(sink: Sink, tally: Tally): Sink {
  return {
    write: (chunk) => {
      tally.text(chunk)
      return sink.write(chunk)
    },
    end: sink.end,
  }
}
