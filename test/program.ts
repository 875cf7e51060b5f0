import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const ROOT = join(import.meta.dirname, '..')

const READY_MS = 20_000

/** The program as an operator runs it: its own process, with nothing of ours in its environment but `settings`. */
export class Program {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''

  constructor(
    settings: Record<string, string>,
    command: readonly string[] = [process.execPath, 'src/start.js'],
  ) {
    const [file = '', ...args] = command
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PLINTH_'))
    const env = { ...Object.fromEntries(inherited), PLINTH_LISTEN: '127.0.0.1:0', ...settings }
    this.process = spawn(file, args, { cwd: ROOT, env })
    this.process.stdout?.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString()
    })
    this.process.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString()
    })
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null
  }

  /** How the process ended, for messages. */
  get ending(): string {
    const { exitCode, signalCode } = this.process
    return this.hasEnded ? `ended with ${signalCode ?? exitCode}` : 'still running'
  }

  /** Resolves with the server's address when everything that is printed at the start has been. */
  async ready(): Promise<string> {
    for (const end = performance.now() + READY_MS; performance.now() < end; await sleep(5)) {
      const url = /Plinth is ready at (\S+)/.exec(this.stdout)?.[1]
      if (url && this.stdout.includes('account/details\n')) return url
      if (this.hasEnded) break
    }
    throw new Error(`not ready (${this.ending}): ${this.stdout}${this.stderr}`)
  }

  async exit(): Promise<number | null> {
    if (!this.hasEnded) await once(this.process, 'exit')
    return this.process.exitCode
  }

  /** Ends the process without a chance to tidy up. */
  async kill(): Promise<void> {
    if (this.hasEnded) return
    const ended = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await ended
  }
}
