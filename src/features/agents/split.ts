import { Readable } from 'node:stream'

/**
 * The first `length` bytes of a stream, and all that follow; to be read in this order. The first fails when there are
 * fewer.
 */
export function splitAt(source: Readable, length: number): [Readable, Readable] {
  const chunks = source.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let left = length
  let rest: Buffer | undefined
  async function* first(): AsyncGenerator<Buffer> {
    while (left > 0) {
      const { value, done } = await chunks.next()
      if (done) throw new Error(`${left} of ${length} bytes are missing`)
      rest = value.subarray(left)
      left -= Math.min(left, value.length)
      yield value.subarray(0, value.length - rest.length)
    }
  }
  async function* second(): AsyncGenerator<Buffer> {
    if (rest && rest.length > 0) yield rest
    for (let { value, done } = await chunks.next(); !done; { value, done } = await chunks.next()) yield value
  }
  return [Readable.from(first(), { objectMode: false }), Readable.from(second(), { objectMode: false })]
}
