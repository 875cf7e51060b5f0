import { type Mask, Masker, maskDeep, maskOf } from './mask.ts'

/** A line of JSON that is longer is treated as text. */
const LONGEST_LINE = 16 * 2 ** 20

/** What frames logs, and what no reader of text expects. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const FORBIDDEN = /[\0\x02\x03]/g

/** Makes of what a program prints the text that may stand in a log: valid UTF-8 without what must not be seen. */
export interface Filter {
  push: (chunk: Buffer) => string
  end: () => string
}

export function textFilter(values: readonly string[]): Filter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const masker = new Masker(values)
  return {
    push: (chunk) => masker.push(clean(decoder.decode(chunk, { stream: true }))),
    end: () => masker.push(clean(decoder.decode())) + masker.end(),
  }
}

/**
 * For lines of JSON, which stay JSON: only strings in them are masked, and none of those that say what a line is. Each
 * line is also told to `onLine` as it was, when it is an object.
 */
export function jsonFilter(values: readonly string[], onLine: (event: Event) => void): Filter {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const mask = maskOf(values)
  let open = ''
  const take = (line: string) => {
    const event = parseEvent(line)
    if (event) onLine(event)
    const masked = mask(line)
    return event && masked !== line ? `${JSON.stringify(maskEvent(event, mask))}\n` : masked
  }
  const push = (text: string) => {
    const lines = (open + clean(text)).split(/(?<=\n)/)
    const rest = lines.at(-1) ?? ''
    const held = !rest.endsWith('\n') && rest.length < LONGEST_LINE
    open = held ? rest : ''
    return (held ? lines.slice(0, -1) : lines).map(take).join('')
  }
  return {
    push: (chunk) => push(decoder.decode(chunk, { stream: true })),
    end: () => push(decoder.decode()) + (open && take(open)),
  }
}

export type Event = Record<string, unknown>

function parseEvent(line: string): Event | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const STRUCTURE = new Set(['@level', '@module', '@timestamp', 'type', 'action', 'severity', 'operation'])

function maskEvent(event: Event, mask: Mask): unknown {
  return Object.fromEntries(
    Object.entries(event).map(([key, value]) => [key, STRUCTURE.has(key) ? value : maskDeep(value, mask)]),
  )
}

function clean(text: string): string {
  return text.replace(FORBIDDEN, '\uFFFD')
}
