import type { FastifyReply, FastifyRequest } from 'fastify'
import { atLength, leaving } from '../../http/leaving.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerFile } from '../../http/shown.ts'
import { mountDownload, SIGNED_LINK, send, verifyLink } from '../../http/storage.ts'
import { getArchive, getFileOf } from './archives.ts'

/** Kinds of links. */
export const ARCHIVE = 'mirrored-archive'
export const SHASUMS = 'mirrored-shasums'
export const SIGNATURE = 'mirrored-shasums-sig'

/** How what has to be fetched can fail. */
export const UPSTREAM_FAILURES = {
  notFound:
    'The provider is not on the organization’s list, or the upstream does not have it; the error says which.',
  tooLarge: 'There is no room for it in the organization’s quota.',
  badGateway:
    'What the upstream has is refused: it is not signed, not by a key that is trusted, or was changed.',
  unavailable: 'The upstream is away, and it was never fetched before.',
  insufficientStorage: 'The server has no room for it.',
}

const doc = documents('Storage', 'Files, behind links that the server makes and that end by themselves.')

const archiveDoc = (id: string) =>
  doc(
    id,
    'Download the archive of a mirrored provider',
    {
      200: answerFile('The whole file; `etag` is its SHA-256.', '*/*'),
      206: answerFile('The range that was asked for.', '*/*'),
      304: { description: 'It is still what `if-none-match` says. The answer has no body.' },
    },
    { failures: { ...UPSTREAM_FAILURES, rangeNotSatisfiable: 'The file has no such range.' } },
  )

export const fileRoutes: Routes = (app) => {
  const bare = `/storage/${ARCHIVE}/:id/:expires/:signature`
  for (const [url, id] of [
    [bare, 'downloadMirroredArchive'],
    [`${bare}/:filename`, 'downloadMirroredArchiveByName'],
  ] as const) {
    const config = { ...SIGNED_LINK, doc: archiveDoc(id) }
    app.get(url, { config, exposeHeadRoute: false }, answerArchive)
    app.head(url, { config }, answerArchive)
  }

  for (const [kind, name, about, which] of [
    [SHASUMS, 'MirroredShasums', 'the SHA256SUMS of a mirrored version', 'shasumsBlob'],
    [SIGNATURE, 'MirroredShasumsSignature', 'the signature of that list', 'signatureBlob'],
  ] as const) {
    mountDownload(app, { kind, name, about }, async (ctx, id) => {
      const { key: blobKey, size, sha256, name: filename } = await getFileOf(ctx, id, which)
      return { blobKey, size, sha256, filename, contentType: 'application/octet-stream' }
    })
  }
}

/** The first to ask for an archive waits until it was fetched and verified. */
async function answerArchive(request: FastifyRequest, reply: FastifyReply) {
  const { ctx, path } = request
  verifyLink(request, { method: 'GET', kind: ARCHIVE, id: path.id })
  const archive = await atLength(request, () => getArchive(ctx, path.id, leaving(reply)))
  const { key: blobKey, size, sha256, filename } = archive
  return send(request, reply, { blobKey, size, sha256, filename, contentType: 'application/zip' })
}
