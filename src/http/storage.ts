import type { FastifyReply, FastifyRequest } from 'fastify'
import parseRange from 'range-parser'
import type { StagedBlob } from '../blobs/blob-store.ts'
import { BlobTooLarge } from '../blobs/blob-store.ts'
import type { Ctx } from '../context.ts'
import { AppError, notFound } from '../lib/errors.ts'
import type { LinkTarget } from '../lib/links.ts'
import type { App } from './routes.ts'

/** How long a caller whose upload was refused midway may go on sending before it is cut off. */
const LINGER_MS = 5_000

const CONFIG = { public: true, signedLink: true } as const

/** Serves one kind of upload link: `PUT` of raw bytes, any content type, no token. */
export interface Upload {
  kind: string
  /** Throws when there is nothing the link could fill. Runs before the bytes are read. */
  expect: (ctx: Ctx, id: string) => Promise<unknown>
  /** Checks and stores the bytes. What it does not store is discarded. */
  accept: (ctx: Ctx, id: string, staged: StagedBlob) => Promise<void>
  maxBytes: (ctx: Ctx) => number
}

/** Mounts the address that `links.sign({ method: 'PUT', kind, id })` points to. */
export function mountUpload(app: App, { kind, expect, accept, maxBytes }: Upload): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.put(
      `/storage/${kind}/:id/:expires/:signature`,
      {
        config: CONFIG,
        onRequest: async (request) => {
          const { ctx, path } = request
          verifyLink(request, { method: 'PUT', kind, id: path.id })
          await expect(ctx, path.id)
          if (Number(request.headers['content-length'] ?? 0) > maxBytes(ctx)) throw tooLarge(maxBytes(ctx))
        },
      },
      async (request, reply) => {
        const { ctx, path } = request
        const staged = await stage(request, maxBytes(ctx))
        try {
          await accept(ctx, path.id, staged)
        } finally {
          await staged.discard()
        }
        return reply.code(200).send()
      },
    )
  })
}

async function stage(request: FastifyRequest, maxBytes: number): Promise<StagedBlob> {
  try {
    return await request.ctx.blobs.stage(request.raw, maxBytes)
  } catch (error) {
    cutOffLater(request)
    if (error instanceof BlobTooLarge) throw tooLarge(maxBytes)
    // A body that came in full is destroyed as well; what failed then is ours.
    if (request.raw.destroyed && !request.raw.complete)
      throw new AppError('badRequest', 'The upload ended early.', { cause: error })
    throw error
  }
}

/** Lets the caller read the answer: closing at once would reset the connection under its unread bytes. */
function cutOffLater({ raw }: FastifyRequest): void {
  raw.resume()
  setTimeout(() => raw.complete || raw.socket.destroy(), LINGER_MS).unref()
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('tooLarge', `The file is larger than ${maxBytes} bytes (PLINTH_MAX_UPLOAD_BYTES).`)
}

/** A stored file, as a download answers it. */
export interface StoredFile {
  blobKey: string
  /** Bytes. */
  size: number
  /** Hexadecimal. */
  sha256: string
  filename: string
  contentType: string
}

/** Mounts the address that `links.sign({ method: 'GET', kind, id })` points to: GET, HEAD and ranges. */
export function mountDownload(
  app: App,
  kind: string,
  locate: (ctx: Ctx, id: string) => Promise<StoredFile>,
): void {
  const options = { config: CONFIG, exposeHeadRoute: false }
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    verifyLink(request, { method: 'GET', kind, id: request.path.id })
    return send(request, reply, await locate(request.ctx, request.path.id))
  }
  for (const url of [
    `/storage/${kind}/:id/:expires/:signature`,
    `/storage/${kind}/:id/:expires/:signature/:filename`,
  ]) {
    app.get(url, options, handler)
    app.head(url, { config: CONFIG }, handler)
  }
}

async function send(request: FastifyRequest, reply: FastifyReply, file: StoredFile) {
  const etag = `"${file.sha256}"`
  reply
    .type(file.contentType)
    .header('etag', etag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-store')
    .header('referrer-policy', 'no-referrer')
    .header('content-disposition', `attachment; filename="${file.filename}"`)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const range = wantedRange(request, file.size, etag)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.size}`)
    throw new AppError('rangeNotSatisfiable', `The file has ${file.size} bytes.`)
  }
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.size}`)
  }
  reply.header('content-length', range ? range.end - range.start + 1 : file.size)
  if (request.method === 'HEAD' || file.size === 0) return reply.send()
  return reply.send(await request.ctx.blobs.read(file.blobKey, range))
}

/** The one range that was asked for; several at once are answered with the whole file, as RFC 9110 allows. */
function wantedRange({ headers }: FastifyRequest, size: number, etag: string) {
  if (!headers.range || (headers['if-range'] && headers['if-range'] !== etag)) return undefined
  const ranges = parseRange(size, headers.range, { combine: true })
  if (ranges === -1) return 'unsatisfiable'
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return ranges[0]
}

function verifyLink({ ctx, path }: FastifyRequest, target: LinkTarget): void {
  if (!ctx.links.verify(target, path.expires, path.signature, ctx.now())) throw notFound()
}
