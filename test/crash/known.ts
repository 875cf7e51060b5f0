import { isDeepStrictEqual } from 'node:util'

/**
 * What a client knows of one thing on the server: the state that was acknowledged, and the one that was asked for
 * but not answered. After a crash the thing must be in one of the two, whole.
 */
export class Known<S> {
  state: S
  #asked: { state: S } | undefined

  constructor(state: S) {
    this.state = state
  }

  /** To be called before a request that changes the state. */
  ask(state: S): void {
    this.#asked = { state }
  }

  /** To be called as soon as the request was answered with success. */
  acknowledge(): void {
    if (this.#asked) this.state = this.#asked.state
    this.#asked = undefined
  }

  /** Takes what is there after a crash; throws when it is neither the old state nor the new one. */
  observe(name: string, actual: S): void {
    const wasAskedFor = this.#asked && isDeepStrictEqual(actual, this.#asked.state)
    if (!wasAskedFor && !isDeepStrictEqual(actual, this.state)) {
      const asked = this.#asked ? `, asked for ${JSON.stringify(this.#asked.state)}` : ''
      throw new Error(
        `${name}: found ${JSON.stringify(actual)}, acknowledged ${JSON.stringify(this.state)}${asked}`,
      )
    }
    this.state = actual
    this.#asked = undefined
  }
}
