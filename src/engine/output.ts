import { type Event, jsonFilter, textFilter } from './filter.ts'
import type { RunLog } from './log.ts'
import { maskOf } from './mask.ts'

/** The engine that a log is about, as clients expect it in the first three lines, which they leave out. */
export function preamble(version: string | undefined, platform: string): string {
  return `Terraform${version ? ` v${version}` : ''}\non ${platform}\nInitializing plugins and modules...\n`
}

/** Writes what programs print, and what the platform has to say, into the log of a phase. */
export class Output {
  readonly #log: RunLog
  readonly #structured: boolean
  readonly #secrets: readonly string[]
  readonly #now: () => Date

  constructor(log: RunLog, structured: boolean, secrets: readonly string[], now = () => new Date()) {
    this.#log = log
    this.#structured = structured
    this.#secrets = secrets
    this.#now = now
  }

  /** The same with more that must not be seen. */
  hiding(secrets: readonly string[]): Output {
    return new Output(this.#log, this.#structured, [...this.#secrets, ...secrets], this.#now)
  }

  get structured(): boolean {
    return this.#structured
  }

  /** Takes text. */
  text(): Sink {
    return this.#sink(textFilter(this.#secrets))
  }

  /** Takes the lines of an engine that was told to print JSON. */
  events(onEvent: (event: Event) => void): Sink {
    return this.#sink(jsonFilter(this.#secrets, onEvent))
  }

  async print(text: string): Promise<void> {
    const sink = this.text()
    await sink.write(Buffer.from(text))
    await sink.end()
  }

  /** Says something of the platform's own in the form of the log. */
  async say(severity: 'error' | 'warning', words: string): Promise<void> {
    const summary = maskOf(this.#secrets)(words)
    const title = severity === 'error' ? 'Error' : 'Warning'
    if (!this.#structured) return this.print(`\n${title}: ${summary}\n`)
    const event = {
      '@level': severity === 'error' ? 'error' : 'warn',
      '@message': `${title}: ${summary}`,
      '@module': 'plinth',
      '@timestamp': this.#now().toISOString(),
      diagnostic: { severity, summary, detail: '' },
      type: 'diagnostic',
    }
    await this.#log.write(`${JSON.stringify(event)}\n`)
  }

  #sink(filter: { push: (chunk: Buffer) => string; end: () => string }): Sink {
    return {
      write: (chunk) => this.#log.write(filter.push(chunk)),
      end: () => this.#log.write(filter.end()),
    }
  }
}

export interface Sink {
  write: (chunk: Buffer) => Promise<void>
  end: () => Promise<void>
}
