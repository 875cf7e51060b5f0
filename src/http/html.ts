/** Text that is HTML already; what is not of this class is escaped when it becomes part of it. */
export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

type Part = string | number | Html | undefined | readonly Html[]

/** HTML from a template whose values are escaped, unless they are `Html` or lists of it; undefined is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const rest = parts.map((part, index) => render(part) + (strings[index + 1] ?? ''))
  return new Html((strings[0] ?? '') + rest.join(''))
}

function render(part: Part): string {
  if (part === undefined) return ''
  if (typeof part === 'object') return part instanceof Html ? String(part) : part.map(String).join('')
  return String(part).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
}
