import { setTimeout as sleep } from 'node:timers/promises'
import { LostExecution } from './channel.ts'
import { retry } from './retry.ts'

/** How long a text waits for more before it is sent. */
const FLUSH_MS = 100

/** Characters that are sent at once. */
const PIECE = 64 * 1024

/** Characters that may wait; beyond it programs wait too, while the server does not take their words. */
const MOST_WAITING = 8 * 2 ** 20

type Append = (start: number, text: string) => Promise<void>

/** The log of a phase on its way to the server: in order, each byte once, a moment after it was written. */
export class RunLog {
  readonly #append: Append
  readonly #signal: AbortSignal
  readonly #onLost: () => void
  #waiting = ''
  #offset = 0
  #sending: Promise<void> | undefined
  #hurry = new AbortController()
  #lost = false

  /** After `signal`, what cannot be sent is not tried again. */
  constructor(append: Append, signal: AbortSignal, onLost: () => void) {
    this.#append = append
    this.#signal = signal
    this.#onLost = onLost
  }

  /** Resolves when there is room for more. The text must be free of what may not be seen. */
  async write(text: string): Promise<void> {
    if (text === '' || this.#lost) return
    this.#waiting += text
    this.#sending ??= this.#sendAll()
    if (this.#waiting.length > MOST_WAITING) await this.#sending
  }

  /** Resolves when all was sent. */
  async flush(): Promise<void> {
    this.#hurry.abort()
    while (this.#sending) await this.#sending
    this.#hurry = new AbortController()
  }

  /** Forgets what was not sent, and takes no more. */
  discard(): void {
    this.#lost = true
    this.#waiting = ''
  }

  async #sendAll(): Promise<void> {
    await sleep(FLUSH_MS, undefined, { signal: this.#hurry.signal }).catch(() => {})
    while (this.#waiting !== '') {
      const piece = firstPiece(this.#waiting)
      this.#waiting = this.#waiting.slice(piece.length)
      await this.#send(piece)
    }
    this.#sending = undefined
  }

  async #send(piece: string): Promise<void> {
    try {
      await retry(() => this.#append(this.#offset, piece), { signal: this.#signal })
      this.#offset += Buffer.byteLength(piece)
    } catch (error) {
      this.discard()
      if (error instanceof LostExecution) this.#onLost()
    }
  }
}

/** As much as is sent at once, and never half of a character. */
function firstPiece(text: string): string {
  const last = text.charCodeAt(PIECE - 1)
  const splits = last >= 0xd800 && last < 0xdc00 && text.length > PIECE
  return text.slice(0, splits ? PIECE - 1 : PIECE)
}
