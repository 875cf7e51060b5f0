import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { INFO_FD, inSandbox, type SandboxKind, type View } from './sandbox.ts'

/** How long the output of a program that has ended is waited for: what it left behind may keep it open for ever. */
const LAST_OUTPUT_MS = 2_000

export interface Program {
  file: string
  args: readonly string[]
  env: Record<string, string>
  view: View
  sandbox: SandboxKind
  /** What it prints; the next piece is read when the last one was taken. */
  onStdout: (chunk: Buffer) => Promise<void> | void
  onStderr: (chunk: Buffer) => Promise<void> | void
}

/** How a program ended: its code, or −1 when a signal or a failure to start ended it. */
export interface Ended {
  code: number
  /** Why it could not be started, or what it printed not be taken. */
  error?: Error
}

/** A program in a process group of its own. No shell is involved. */
export class RunningProgram {
  readonly #child: ChildProcess
  #sandboxed: number | undefined
  #ended = false
  readonly ended: Promise<Ended>

  constructor({ file, args, env, view, sandbox, onStdout, onStderr }: Program) {
    const command = sandbox === 'bwrap' ? inSandbox(file, args, view) : { file, args }
    this.#child = spawn(command.file, command.args, {
      cwd: view.cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...(sandbox === 'bwrap' ? (['pipe'] as const) : [])],
    })
    const { stdout, stderr } = this.#child
    const output = Promise.all([pump(stdout, onStdout), pump(stderr, onStderr)])
    // It is asked for only when the program has ended.
    output.catch(() => {})
    if (sandbox === 'bwrap') this.#learnPid(this.#child.stdio[INFO_FD] as Readable)
    this.ended = this.#wait(output)
  }

  /** Sends one SIGINT to the program itself, not to what it has started. */
  interrupt(): void {
    const pid = this.#sandboxed === undefined ? this.#child.pid : childOf(this.#sandboxed)
    // Before there is a program in the sandbox, its end is the end of all.
    signal(pid ?? this.#child.pid, 'SIGINT')
  }

  /** Ends the program and what it has started. */
  kill(): void {
    if (this.#child.pid !== undefined && !this.#ended) signal(-this.#child.pid, 'SIGKILL')
  }

  async #wait(output: Promise<unknown>): Promise<Ended> {
    const ended = await new Promise<Ended>((resolve) => {
      this.#child.once('exit', (code) => resolve({ code: code ?? -1 }))
      this.#child.once('error', (error) => resolve({ code: -1, error }))
    })
    // What it left behind in its group.
    this.kill()
    this.#ended = true
    const failure = await Promise.race([
      output.then(
        () => undefined,
        (error: Error) => error,
      ),
      sleep(LAST_OUTPUT_MS, undefined, { ref: false }),
    ])
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    return failure && !ended.error ? { ...ended, error: failure } : ended
  }

  #learnPid(info: Readable): void {
    let told = ''
    info.on('data', (chunk) => {
      told += chunk
      this.#sandboxed ??= Number(/"child-pid": (\d+)/.exec(told)?.[1]) || undefined
    })
  }
}

async function pump(
  stream: Readable | null | undefined,
  take: (chunk: Buffer) => Promise<void> | void,
): Promise<void> {
  if (stream) for await (const chunk of stream) await take(chunk as Buffer)
}

/** The one child of a sandbox's first process, by its number outside of the sandbox. */
function childOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]) || undefined
  } catch {
    return undefined
  }
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(pid, name)
  } catch {
    // It has ended already.
  }
}
