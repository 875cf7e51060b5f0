import type { Counts } from './channel.ts'
import type { Event } from './filter.ts'

const NONE: Counts = { additions: 0, changes: 0, destructions: 0, imports: 0 }

const IN_TEXT: [RegExp, keyof Counts][] = [
  [/: Creation complete after /, 'additions'],
  [/: Modifications complete after /, 'changes'],
  [/: Destruction complete after /, 'destructions'],
  [/: Import complete /, 'imports'],
]

const IN_EVENTS: Record<string, keyof Counts> = {
  create: 'additions',
  update: 'changes',
  delete: 'destructions',
}

/** What the engine did and said went wrong, taken from its output while it works. */
export class Tally {
  readonly #decoder = new TextDecoder()
  #line = ''
  /** What it has said one by one, which holds when it does not come to its summary. */
  #single = { ...NONE }
  #summary: Counts | undefined
  #error: string | undefined

  /** What was applied. */
  get counts(): Counts {
    return this.#summary ?? this.#single
  }

  /** The first error, in a few words. */
  get error(): string | undefined {
    return this.#error
  }

  /** A line of JSON. */
  event(event: Event): void {
    const { type } = event
    if (type === 'apply_complete') this.#count((event['hook'] as { action?: string })?.action)
    if (type === 'change_summary') this.#summarize(event['changes'] as Record<string, unknown>)
    if (type !== 'diagnostic') return
    const { severity, summary } = (event['diagnostic'] ?? {}) as { severity?: string; summary?: string }
    if (severity === 'error') this.#error ??= summary
  }

  /** Output for people. */
  text(chunk: Buffer): void {
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split('\n')
    this.#line = lines.pop() ?? ''
    for (const line of lines) this.#takeLine(line)
  }

  #takeLine(line: string): void {
    for (const [pattern, kind] of IN_TEXT) if (pattern.test(line)) this.#single[kind]++
    this.#error ??= /^[│ ]*Error: (?!Terraform encountered problems)(.+)$/.exec(line)?.[1]
    if (!/^(Apply|Destroy) complete! Resources:/.test(line)) return
    const number = (word: string) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0)
    this.#summary = {
      additions: number('added'),
      changes: number('changed'),
      destructions: number('destroyed'),
      imports: number('imported'),
    }
  }

  #count(action: string | undefined): void {
    const kind = IN_EVENTS[action ?? '']
    if (kind) this.#single[kind]++
  }

  #summarize(changes: Record<string, unknown>): void {
    // The summary of a plan says what shall be done.
    if (changes?.['operation'] === 'plan') return
    const number = (name: string) => Number(changes?.[name] ?? 0)
    this.#summary = {
      additions: number('add'),
      changes: number('change'),
      destructions: number('remove'),
      imports: number('import'),
    }
  }
}
