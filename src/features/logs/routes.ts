import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerFile } from '../../http/shown.ts'
import { verifyLink } from '../../http/storage.ts'
import { Type } from '../../lib/type.ts'
import * as service from './service.ts'

const Query = Type.Object({
  offset: Type.Optional(Type.String({ description: 'Bytes to leave out from the start.' })),
  limit: Type.Optional(Type.String({ description: 'Bytes to answer at most; otherwise all there are.' })),
})

const doc = documents('Storage', 'Files, behind links that the server makes and that end by themselves.')

const docs = {
  read: doc(
    'readLog',
    'Read the log of a plan or an apply',
    {
      200: answerFile(
        'What has been written; nothing beyond the end. The first byte of a log is STX (2), the last one is ETX (3).',
        'text/plain',
      ),
    },
    {
      description: 'A log can be read while it is written. Clients ask for what comes after what they have.',
    },
  ),
}

export const routes: Routes = (app) => {
  app.get(
    '/storage/logs/:id/:expires/:signature',
    { schema: { querystring: Query }, config: { public: true, signedLink: true, doc: docs.read } },
    async (request, reply) => {
      const { ctx, path, query } = request
      verifyLink(request, { method: 'GET', kind: 'logs', id: path.id })
      const { length, bytes } = await service.read(
        ctx,
        path.id,
        toCount(query.offset, 0),
        toCount(query.limit),
      )
      reply
        .type('text/plain; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('referrer-policy', 'no-referrer')
        .header('content-length', length)
      return reply.send(length > 0 ? bytes : '')
    },
  )
}

/** Clients end their command at every answer of 400 and above, so what is no number is as if it were not there. */
function toCount(text: string | undefined, fallback = Number.MAX_SAFE_INTEGER): number {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : fallback
}
