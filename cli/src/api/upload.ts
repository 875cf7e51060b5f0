import { createReadStream } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { refusal } from './client.ts'
import { explainConnection, type Retries, Transient, withRetries } from './retries.ts'

/** A file to send: one on disk, or bytes. */
export interface Upload {
  filename: string
  size: number
  content: { path: string } | { bytes: Buffer }
}

/** A connection that carries nothing for so long is given up. */
const IDLE_MS = 60_000

/** `fetch` would send a stream in chunks, which object stores refuse, and tells nothing of its progress. */
const CLIENTS = { 'http:': http, 'https:': https } as const

/**
 * Sends a file to an upload link, again and again until it arrives. `isThere` is asked when a further attempt is
 * refused, for the answer to the one before may have been lost.
 */
export async function upload(
  link: string,
  file: Upload,
  retries: Retries,
  { onBytes, isThere }: { onBytes: (sent: number) => void; isThere: () => Promise<boolean> },
): Promise<void> {
  const url = new URL(link)
  await withRetries(retries, async (attempt) => {
    onBytes(0)
    const { status, body, retryAfter } = await put(url, file, retries.signal, onBytes)
    if (status >= 200 && status < 300) return
    const error = refusal(status, body, `The upload of ${file.filename}`, retryAfter)
    if (error instanceof Transient) throw error
    // It says that the upload ended early: something between here and there cut it.
    if (status === 400) throw new Transient(error.message, { details: [...error.details] })
    if (attempt === 1 || !(await isThere())) throw error
  })
}

interface Answer {
  status: number
  body: string
  retryAfter: string | undefined
}

async function put(url: URL, file: Upload, signal: AbortSignal, onBytes: (sent: number) => void) {
  const client = CLIENTS[url.protocol as keyof typeof CLIENTS]
  const request = client.request(url, {
    method: 'PUT',
    headers: { 'content-length': file.size },
    timeout: IDLE_MS,
    signal,
  })
  request.on('timeout', () => request.destroy(new Error('nothing moved for a minute')))
  const answered = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject)
    request.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      text(response).then((body) => resolve({ status, body, retryAfter: headers['retry-after'] }), reject)
    })
  })
  const { content } = file
  const source = 'path' in content ? createReadStream(content.path) : Readable.from([content.bytes])
  let sent = 0
  const count = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      yield piece
      sent += piece.length
      onBytes(sent)
    }
  }
  // What fails here fails the request as well, unless the answer came first: then that is what counts.
  const sending = pipeline(source, count, request).catch(() => undefined)
  try {
    return await answered
  } catch (error) {
    signal.throwIfAborted()
    throw explainConnection(error, url.host)
  } finally {
    request.destroy()
    await sending
  }
}
