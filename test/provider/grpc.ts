import {
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Message } from './wire.ts'

// gRPC over HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), the server's side.

/** Answers a call that has one request and one answer. */
export type Call = (request: Message, stream: ServerHttp2Stream) => Buffer | Promise<Buffer>

/** A stream on which nothing is ever said; the caller wants it open all the same. */
export const SILENT_STREAM = 'silent stream'

/** What is served, by `/package.Service/Method`. */
export type Methods = Record<string, Call | typeof SILENT_STREAM>

/** Whom to be, and whom to let in. Without it the server speaks plain text. */
export interface Tls {
  key: string
  cert: string
  /** The one certificate that a client may come with. */
  clientCert: string
}

const UNIMPLEMENTED = 12
const INTERNAL = 13
const HEADERS = { ':status': 200, 'content-type': 'application/grpc' }

/** Serves on a free port of 127.0.0.1 until it is closed. */
export function serve(methods: Methods, tls: Tls | undefined): Promise<{ port: number; close: () => void }> {
  const server = tls
    ? createSecureServer({ ...tls, ca: tls.clientCert, requestCert: true, rejectUnauthorized: true })
    : createServer()
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    // A caller that goes away resets its streams; there is nobody left to tell.
    stream.on('error', () => {})
    const path = String(headers[':path'])
    const method = Object.hasOwn(methods, path) ? methods[path] : undefined
    if (method === SILENT_STREAM) stream.respond(HEADERS)
    else if (method) void answer(method, stream)
    else fail(stream, UNIMPLEMENTED, `${path} is not implemented`)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      resolve({ port, close: () => server.close() })
    })
  })
}

async function answer(call: Call, stream: ServerHttp2Stream): Promise<void> {
  try {
    const payload = await call(new Message(unframe(await buffer(stream))), stream)
    stream.respond(HEADERS, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }))
    stream.end(frame(payload))
  } catch (error) {
    fail(stream, INTERNAL, error instanceof Error ? error.message : String(error))
  }
}

function fail(stream: ServerHttp2Stream, status: number, reason: string): void {
  if (stream.destroyed) return
  const trailers = { 'grpc-status': status, 'grpc-message': encodeURIComponent(reason) }
  stream.respond({ ...HEADERS, ...trailers }, { endStream: true })
}

/** A message after a byte that says whether it is compressed, and its length. */
function frame(payload: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

function unframe(framed: Buffer): Buffer {
  if (framed.length < 5 || framed.readUInt32BE(1) !== framed.length - 5)
    throw new Error('not one gRPC message')
  if (framed.readUInt8(0) !== 0) throw new Error('compressed messages are not understood')
  return framed.subarray(5)
}
