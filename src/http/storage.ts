import type { FastifyReply, FastifyRequest } from 'fastify'
import parseRange from 'range-parser'
import type { StagedBlob, StagedBytes } from '../blobs/blob-store.ts'
import { BlobTooLarge } from '../blobs/blob-store.ts'
import type { Ctx } from '../context.ts'
import { AppError, notFound } from '../lib/errors.ts'
import { DOWNLOAD_SECONDS, type LinkTarget, UPLOAD_SECONDS } from '../lib/links.ts'
import { releasedPieces } from '../lib/pieces.ts'
import { documents, type Operation } from './operation.ts'
import type { App } from './routes.ts'
import { answerFile, NOTHING } from './shown.ts'

/** How long a caller whose upload was refused midway may go on sending before it is cut off. */
const LINGER_MS = 5_000

/** For routes whose permission is in their address. */
export const SIGNED_LINK = { public: true, signedLink: true } as const

const doc = documents('Storage', 'Files, behind links that the server makes and that end by themselves.')

interface AnyUpload {
  kind: string
  /** For the documentation: its name in an operation's, and what it is. */
  name: string
  about: string
  /**
   * Throws when there is nothing the link could fill, or not by so many bytes, where that was announced. Runs before
   * the bytes are read.
   */
  expect: (ctx: Ctx, id: string, bytes: number | undefined) => Promise<unknown>
  maxBytes: (ctx: Ctx) => number
  /** For the documentation: how else it may fail. */
  failures?: Operation['failures']
  /** The variable that the limit comes from, for those who meet it. */
  limitedBy?: string
}

interface PlainUpload extends AnyUpload {
  sealed?: never
  /** Checks and stores the bytes. What it does not store is discarded. */
  accept: (ctx: Ctx, id: string, staged: StagedBlob) => Promise<void>
}

/** The bytes are sealed as they come. */
interface SealedUpload extends AnyUpload {
  sealed: true
  accept: (ctx: Ctx, id: string, staged: StagedBytes) => Promise<void>
}

/** Serves one kind of upload link: `PUT` of raw bytes, any content type, no token. */
export type Upload = PlainUpload | SealedUpload

/** Mounts the address that `links.sign({ method: 'PUT', kind, id })` points to. */
export function mountUpload(app: App, upload: Upload): void {
  const { kind, expect, maxBytes } = upload
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.put(
      `/storage/${kind}/:id/:expires/:signature`,
      {
        config: { ...SIGNED_LINK, doc: uploadDoc(upload) },
        onRequest: async (request) => {
          const { ctx, path } = request
          const { tokenId } = verifyLink(request, { method: 'PUT', kind, id: path.id })
          if (tokenId) await speakForToken(ctx, tokenId)
          const length = request.headers['content-length']
          const bytes = length === undefined ? undefined : Number(length)
          await expect(ctx, path.id, bytes)
          if ((bytes ?? 0) > maxBytes(ctx)) throw tooLarge(maxBytes(ctx), upload.limitedBy)
        },
      },
      async (request, reply) => {
        await receive(request, upload)
        return reply.code(200).send()
      },
    )
  })
}

/** A link made for a token is worth what the token is worth now. */
export async function speakForToken(ctx: Ctx, tokenId: string): Promise<void> {
  const subject = await ctx.loadSubject(ctx, tokenId)
  if (!subject) throw notFound()
  ctx.subject = subject
}

function uploadDoc({ name, about, failures }: Upload) {
  const answers = { 200: { description: 'It was received, checked and stored. The answer has no body.' } }
  return doc(`upload${name}`, `Upload ${about}`, answers, {
    upload: { description: 'The bytes, of any content type.', mediaType: 'application/octet-stream' },
    failures: {
      badRequest: 'The upload ended early.',
      conflict: 'It is there already.',
      tooLarge: 'It is larger than allowed.',
      invalid: 'It is not what was announced; the error says why.',
      ...failures,
    },
  })
}

async function receive(request: FastifyRequest, upload: Upload): Promise<void> {
  const { ctx, path } = request
  const maxBytes = upload.maxBytes(ctx)
  if (upload.sealed) {
    const staged = await stage(
      request,
      maxBytes,
      () => ctx.sealed.stage(request.raw, maxBytes),
      upload.limitedBy,
    )
    await upload.accept(ctx, path.id, staged).finally(staged.discard)
  } else {
    const staged = await stage(
      request,
      maxBytes,
      () => ctx.blobs.stage(releasedPieces(request.raw), maxBytes),
      upload.limitedBy,
    )
    await upload.accept(ctx, path.id, staged).finally(staged.discard)
  }
}

/** Receives the body by `take`; says of one that is too large, or ends early, what is wrong with it. */
export async function stage<T>(
  request: FastifyRequest,
  maxBytes: number,
  take: () => Promise<T>,
  limitedBy?: string,
): Promise<T> {
  try {
    return await take()
  } catch (error) {
    cutOffLater(request)
    if (error instanceof BlobTooLarge) throw tooLarge(maxBytes, limitedBy)
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

function tooLarge(maxBytes: number, limitedBy = 'PLINTH_MAX_UPLOAD_BYTES'): AppError {
  return new AppError('tooLarge', `The file is larger than ${maxBytes} bytes (${limitedBy}).`)
}

/** One file of a resource, for the links of the resource. */
interface FileLink {
  /** What the link is called, before `-upload` or `-download`. */
  name: string
  kind: string
  id: string
  filename: string
  isUploaded: boolean
  mayUpload: boolean
  /** Whom a download link is for, where that is counted. */
  requestedBy?: string | undefined
}

/** The download link of an uploaded file, or else the upload link, which only those who may use it get. */
export function fileLink(
  ctx: Ctx,
  { name, kind, id, filename, isUploaded, mayUpload, requestedBy }: FileLink,
) {
  if (isUploaded) {
    const target = { method: 'GET', kind, id, requestedBy } as const
    return { [`${name}-download`]: ctx.links.sign(target, ctx.now(), DOWNLOAD_SECONDS, filename) }
  }
  const upload = mayUpload ? uploadLink(ctx, kind, id) : undefined
  return upload ? { [`${name}-upload`]: upload } : {}
}

/** The link that takes a file, for the token of the request, with which it ends; undefined without a token. */
export function uploadLink({ subject, links, now }: Ctx, kind: string, id: string): string | undefined {
  const tokenId = subject && 'tokenId' in subject ? subject.tokenId : undefined
  return tokenId && links.sign({ method: 'PUT', kind, id, tokenId }, now(), UPLOAD_SECONDS)
}

/** A stored file, as a download answers it. */
export interface StoredFile {
  blobKey: string
  sealed?: boolean
  /** Bytes. */
  size: number
  /** Hexadecimal, where it is known. */
  sha256?: string
  filename: string
  contentType: string
  /** Called when somebody is sent it from its first byte on, so once for a download that is continued. */
  onBegin?: () => void
}

/** Mounts the address that `links.sign({ method: 'GET', kind, id })` points to: GET, HEAD and ranges. */
export function mountDownload(
  app: App,
  { kind, name, about }: Pick<Upload, 'kind' | 'name' | 'about'>,
  locate: (ctx: Ctx, id: string, requestedBy: string | undefined) => Promise<StoredFile>,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { ctx, path } = request
    const { requestedBy } = verifyLink(request, { method: 'GET', kind, id: path.id })
    return send(request, reply, await locate(ctx, path.id, requestedBy))
  }
  const bare = `/storage/${kind}/:id/:expires/:signature`
  for (const [url, id] of [
    [bare, `download${name}`],
    [`${bare}/:filename`, `download${name}ByName`],
  ] as const) {
    const config = { ...SIGNED_LINK, doc: downloadDoc(id, about) }
    app.get(url, { config, exposeHeadRoute: false }, handler)
    app.head(url, { config }, handler)
  }
}

function downloadDoc(id: string, about: string) {
  const answers = {
    200: answerFile('The whole file; `etag` is its SHA-256.', '*/*'),
    206: answerFile('The range that was asked for.', '*/*'),
    304: { ...NOTHING, description: 'It is still what `if-none-match` says.' },
  }
  const failures = { rangeNotSatisfiable: 'The file has no such range.' }
  return doc(id, `Download ${about}`, answers, { failures })
}

/** Answers with a stored file: GET, HEAD and ranges. */
export async function send(request: FastifyRequest, reply: FastifyReply, file: StoredFile) {
  const etag = file.sha256 && `"${file.sha256}"`
  if (etag) reply.header('etag', etag)
  reply
    .type(file.contentType)
    .header('accept-ranges', 'bytes')
    .header('cache-control', 'private, no-store')
    .header('referrer-policy', 'no-referrer')
    .header('content-disposition', `attachment; filename="${file.filename}"`)
  if (etag && request.headers['if-none-match'] === etag) return reply.code(304).send()
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
  if (!range?.start) file.onBegin?.()
  const { blobs, sealed } = request.ctx
  return reply.send(await (file.sealed ? sealed : blobs).read(file.blobKey, range))
}

/** The one range that was asked for; several at once are answered with the whole file, as RFC 9110 allows. */
function wantedRange({ headers }: FastifyRequest, size: number, etag: string | undefined) {
  if (!headers.range || (headers['if-range'] && headers['if-range'] !== etag)) return undefined
  const ranges = parseRange(size, headers.range, { combine: true })
  if (ranges === -1) return 'unsatisfiable'
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined
  return ranges[0]
}

/** 404 unless the address was signed for `target` and still holds; the token or subject that it was made for, if any. */
export function verifyLink({ ctx, path }: FastifyRequest, target: LinkTarget) {
  const link = ctx.links.verify(target, path.expires, path.signature, ctx.now())
  if (!link) throw notFound()
  return link
}
