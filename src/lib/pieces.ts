import type { Readable } from 'node:stream'

/**
 * The pieces of a stream that nobody else reads; the memory of each is given back when the next is asked for. Left
 * to the garbage collector, every 20 MB of them would make it walk through all that the server holds, for a third
 * of the time of an upload. The stream stays open when its reader stops early.
 */
export async function* releasedPieces(stream: Readable): AsyncGenerator<Buffer> {
  for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<
    Buffer<ArrayBuffer>
  >) {
    yield piece
    // Small ones share the memory of others.
    if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0)
  }
}
