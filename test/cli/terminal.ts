import { type ChildProcess, spawn } from 'node:child_process'
import { until } from '../runs.ts'

/** A terminal in which one command runs, for commands that ask questions and want a person's answers. */
export class Terminal {
  readonly #child: ChildProcess
  #shown = ''
  readonly ended: Promise<number>

  /** `command` is for the shell. */
  constructor(command: string, options: { cwd: string; env: Record<string, string> }) {
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], options)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (data: Buffer) => {
        this.#shown += data
      })
    }
    // What is typed after the end is lost, as at any terminal.
    this.#child.stdin?.on('error', () => {})
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code ?? 1)))
  }

  /** What the terminal shows, without colours. */
  get shown(): string {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with the escape character.
    return this.#shown.replace(/\u001b\[[\d;]*[A-Za-z]/g, '').replaceAll('\r', '')
  }

  /** Waits until the terminal shows the text. */
  async untilShown(text: string): Promise<void> {
    await until(
      () => this.shown.includes(text) || undefined,
      () => this.shown,
    )
  }

  /** Types a line. */
  type(line: string): void {
    this.press(`${line}\n`)
  }

  /** Types as it is, such as what Ctrl-C sends. */
  press(keys: string): void {
    this.#child.stdin?.write(keys)
  }

  /** Ends the command if it is still running. */
  async close(): Promise<void> {
    this.#child.kill()
    await this.ended
  }
}
