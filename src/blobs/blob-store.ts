import type { Readable } from 'node:stream'

/** Bytes received and hashed, not yet part of anything. */
export interface StagedBytes {
  /** Bytes. */
  size: number
  /** Hexadecimal. */
  sha256: string
  /** Whether they are encrypted where they lie; size and digest are those of the plain bytes. */
  sealed?: true
  /** All of it in memory; for files that are known to be small. */
  read: () => Promise<Buffer>
  /** The same as a stream, as often as wanted until the bytes are stored or discarded. */
  stream: () => Readable
  /** Makes the bytes durable under `key`, replacing what was there. */
  store: (key: string) => Promise<void>
  /** Drops the bytes; does nothing once they are stored. */
  discard: () => Promise<void>
}

export interface StagedBlob extends StagedBytes {
  /** A path on this machine that holds the bytes until the blob is stored or discarded. */
  path: string
}

/** Keys of sealed blobs that no row knows of: they are kept when the database is away. */
export const WITHOUT_ROWS = /^errored-states\//

/** First and last byte, both included. */
export interface ByteRange {
  start: number
  end: number
}

/** The stream grew beyond the size that was allowed. */
export class BlobTooLarge extends Error {
  override name = 'BlobTooLarge'
}

/**
 * Where bytes live. Keys are made by us, of letters, digits, `.`, `_`, `-` and `/`, never from input.
 * Everything that is stored is durable before the promise resolves.
 */
export interface BlobStore {
  /**
   * Receives a stream, hashing it on the way. Throws `BlobTooLarge` beyond `maxBytes`, keeping nothing. It is done
   * with a piece of the stream when it asks for the next.
   */
  stage: (source: AsyncIterable<Buffer>, maxBytes: number) => Promise<StagedBlob>
  /** Streams a stored blob or a part of it. Throws when there is none. */
  read: (key: string, range?: ByteRange) => Promise<Readable>
  /** Bytes of a stored blob; undefined when there is none. */
  size: (key: string) => Promise<number | undefined>
  /** Removes a blob; one that does not exist is no error. */
  remove: (key: string) => Promise<void>
  /** Every stored key, with the moment it was stored. */
  list: () => AsyncIterable<{ key: string; storedAt: string }>
  /** Drops bytes that were being received by servers that are gone. */
  sweepStaging: () => Promise<void>
  /** Throws when bytes cannot be stored now. */
  check: () => Promise<void>
}
