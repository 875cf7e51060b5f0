/** Reads bytes from front to back. */
export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new Error('the message ends too early')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  /** An unsigned number of up to six bytes, the highest first. */
  unsigned(size: number): number {
    return this.take(size).readUIntBE(0, size)
  }
}
