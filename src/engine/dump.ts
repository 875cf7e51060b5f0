// An engine that cannot write its state anywhere, because the disk is full, prints it. There it is the last copy, and
// full of what a log must not tell: it is taken out of the output, and saved.

const NEWLINE = 10

const IN_EVENTS = '"@message":"Emergency state dump"'

const WITHHELD = '(The state, which could not be written, was printed here, and has been taken from the log.)'

/** Takes a state out of what the engine prints, which it passes on line by line. */
export class DumpCatcher {
  #pieces: Buffer[] = []
  /** The lines of a document for people that has begun. */
  #document: string[] | undefined
  #state: string | undefined

  /** What the engine has printed as its state. */
  get state(): string | undefined {
    return this.#state
  }

  push(chunk: Buffer): Buffer {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      this.#pieces.push(chunk)
      return Buffer.alloc(0)
    }
    const lines = Buffer.concat([...this.#pieces, chunk.subarray(0, end)]).toString()
    this.#pieces = [chunk.subarray(end)]
    return Buffer.from(this.#pass(lines.split('\n').slice(0, -1)))
  }

  end(): Buffer {
    const isState = this.#document?.[1]?.startsWith('  "version": ')
    const held = isState ? [WITHHELD] : (this.#document ?? [])
    return Buffer.concat([Buffer.from(held.map((line) => `${line}\n`).join('')), ...this.#pieces])
  }

  #pass(lines: string[]): string {
    return lines
      .flatMap((line) => this.#take(line))
      .map((line) => `${line}\n`)
      .join('')
  }

  /** The lines that go on in place of this one. */
  #take(line: string): string[] {
    if (line.startsWith('{') && line.includes(IN_EVENTS)) return this.#takeEvent(line)
    if (line === '{') this.#document = []
    if (!this.#document) return [line]
    this.#document.push(line)
    return line === '}' ? this.#endDocument(this.#document) : []
  }

  #takeEvent(line: string): string[] {
    const from = line.indexOf('"state":{')
    const text = line.slice(from + '"state":'.length).replace(/(,"type":"[^"]*")?\}\s*$/, '')
    if (from < 0 || !isState(text)) return [line]
    this.#state = text
    return [WITHHELD]
  }

  #endDocument(lines: string[]): string[] {
    this.#document = undefined
    const text = lines.join('\n')
    if (!isState(text)) return lines
    this.#state = text
    return [WITHHELD]
  }
}

function isState(text: string): boolean {
  try {
    const { version, serial, lineage } = JSON.parse(text)
    return typeof version === 'number' && typeof serial === 'number' && typeof lineage === 'string'
  } catch {
    return false
  }
}
