import { connect, type IncomingHttpHeaders, type SecureClientSessionOptions } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from './certificate.ts'
import { type Methods, serve, type Tls } from './grpc.ts'
import { message } from './wire.ts'

const METHODS: Methods = {
  '/test.Echo/Double': (request) => message({ 1: request.integer(1) * 2 }),
  '/test.Echo/Throw': () => {
    throw new Error('out of 100 % order')
  },
}

const framed = (payload: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, payload.length]), payload])

/** Serves until the test ends; returns the port. */
async function start(tls?: Tls): Promise<number> {
  const { port, close } = await serve(METHODS, tls)
  onTestFinished(close)
  return port
}

/** Calls a method as gRPC does; returns the answer's body, with its headers and trailers together. */
async function call(url: string, path: string, body: Buffer, options: SecureClientSessionOptions = {}) {
  const session = connect(url, options)
  onTestFinished(() => session.destroy())
  const headers: IncomingHttpHeaders = {}
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
  for (const event of ['response', 'trailers']) stream.on(event, (more) => Object.assign(headers, more))
  const { promise: failed, reject } = Promise.withResolvers<never>()
  session.on('error', reject)
  stream.on('error', reject)
  stream.end(body)
  const answer = { body: await Promise.race([buffer(stream), failed]), headers }
  if (!headers[':status']) throw new Error('the connection was closed without an answer')
  return answer
}

describe('a gRPC server', () => {
  test('answers with a message, and with its status at the end', async () => {
    const url = `http://127.0.0.1:${await start()}`
    const { body, headers } = await call(url, '/test.Echo/Double', framed(message({ 1: 21 })))
    expect(body).toEqual(framed(message({ 1: 42 })))
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' })
  })

  test('answers what it cannot do with a status and a reason', async () => {
    const url = `http://127.0.0.1:${await start()}`
    const statusOf = async (path: string, body: Buffer) => {
      const { headers } = await call(url, path, body)
      return [headers['grpc-status'], decodeURIComponent(String(headers['grpc-message']))]
    }
    const empty = framed(Buffer.alloc(0))
    expect(await statusOf('/test.Echo/Halve', empty)).toEqual(['12', '/test.Echo/Halve is not implemented'])
    expect(await statusOf('/toString', empty)).toEqual(['12', '/toString is not implemented'])
    expect(await statusOf('/test.Echo/Throw', empty)).toEqual(['13', 'out of 100 % order'])
    expect(await statusOf('/test.Echo/Double', Buffer.from([0, 0, 0, 0, 9, 1]))).toEqual([
      '13',
      'not one gRPC message',
    ])
    expect(await statusOf('/test.Echo/Double', Buffer.from([1, 0, 0, 0, 0]))).toEqual([
      '13',
      'compressed messages are not understood',
    ])
  })

  test('lets nobody in but the owner of the one certificate', async () => {
    const [server, client, other] = [makeCertificate(), makeCertificate(), makeCertificate()]
    const port = await start({ key: server.key, cert: server.pem, clientCert: client.pem })
    const double = (options: SecureClientSessionOptions) =>
      call(`https://localhost:${port}`, '/test.Echo/Double', framed(message({ 1: 21 })), {
        ca: server.pem,
        ...options,
      })
    const { body } = await double({ key: client.key, cert: client.pem })
    expect(body).toEqual(framed(message({ 1: 42 })))
    await expect(double({})).rejects.toThrow()
    await expect(double({ key: other.key, cert: other.pem })).rejects.toThrow()
  })
})
