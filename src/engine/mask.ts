/** What stands in the log for a value that must not be seen. */
export const MASK = '***'

/** Shorter values are not masked: they would be found everywhere, and what is left would tell them. */
const SHORTEST = 3

/** Lines of a value are masked by themselves from this length on: output is often indented line by line. */
const SHORTEST_LINE = 8

/** Go escapes these in JSON where JavaScript does not. */
const GO_ESCAPES: Record<string, string> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** Every spelling in which the values may be printed, longest first. */
export function spellings(values: readonly string[]): string[] {
  const all = new Set<string>()
  for (const value of values) {
    const lines = value.split(/\r?\n/).map((line) => line.trim())
    const parts = lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : []
    for (const part of [value, value.trim(), ...parts]) if (part.length >= SHORTEST) addSpellings(all, part)
  }
  return [...all].sort((a, b) => b.length - a.length)
}

function addSpellings(all: Set<string>, value: string): void {
  const inJson = JSON.stringify(value).slice(1, -1)
  const twice = JSON.stringify(inJson).slice(1, -1)
  for (const text of [value, inJson, twice]) {
    all.add(text)
    all.add(text.replace(/[<>&]/g, (character) => GO_ESCAPES[character] as string))
  }
  // The padding may be missing; what is left of it tells nothing.
  all.add(Buffer.from(value).toString('base64').replace(/=+$/, ''))
  all.add(encodeURIComponent(value.toWellFormed()))
}

/** Finds any of the spellings, at one place the longest. */
function patternOf(found: readonly string[]): RegExp | undefined {
  if (found.length === 0) return undefined
  return new RegExp(found.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}

/** Makes a text without the values of one that has them; it must be whole. */
export type Mask = (text: string) => string

export function maskOf(values: readonly string[]): Mask {
  const pattern = patternOf(spellings(values))
  return (text) => (pattern ? text.replace(pattern, MASK) : text)
}

/** Masks the strings in a value of JSON; a number that is to be masked becomes the mask. */
export function maskDeep(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') return mask(String(value)) === MASK ? MASK : value
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, mask))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, maskDeep(item, mask)]))
}

/** Masks a text that comes in pieces; what may be the beginning of a value is held back until the next piece. */
export class Masker {
  readonly #spellings: string[]
  readonly #pattern: RegExp | undefined
  #held = ''

  constructor(values: readonly string[]) {
    this.#spellings = spellings(values)
    this.#pattern = patternOf(this.#spellings)
  }

  push(piece: string): string {
    return this.#take(this.#held + piece, false)
  }

  end(): string {
    return this.#take(this.#held, true)
  }

  #take(text: string, last: boolean): string {
    this.#held = ''
    if (!this.#pattern) return text
    let masked = ''
    let from = 0
    while (from < text.length) {
      this.#pattern.lastIndex = from
      const match = this.#pattern.exec(text)
      const open = last ? text.length : this.#findOpen(text, from)
      // A longer value may begin where a shorter one was found.
      if (!match || open <= match.index) {
        this.#held = text.slice(open)
        return masked + text.slice(from, open)
      }
      masked += text.slice(from, match.index) + MASK
      from = match.index + match[0].length
    }
    return masked
  }

  /** The first place from which on all of the text is the beginning of a value; its end if there is none. */
  #findOpen(text: string, from: number): number {
    let first = text.length
    for (const value of this.#spellings) {
      let at = text.indexOf(value.charAt(0), Math.max(from, text.length - value.length + 1))
      while (at >= 0 && at < first) {
        if (value.startsWith(text.slice(at))) first = at
        at = text.indexOf(value.charAt(0), at + 1)
      }
    }
    return first
  }
}
