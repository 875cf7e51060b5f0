import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../../http/html.ts'
import { documents } from '../../http/operation.ts'
import { sendPage } from '../../http/pages.ts'
import type { Routes } from '../../http/routes.ts'
import { About, OneOf } from '../../http/schema.ts'
import { answerFile, answerPlain, Exactly } from '../../http/shown.ts'
import { notFound } from '../../lib/errors.ts'
import type { OpenApi } from '../../lib/openapi.ts'
import { Type } from '../../lib/type.ts'
import { ATOM, changelogAtom, changelogJson, changelogPage } from './changelog-pages.ts'
import { KINDS, listChanges } from './changes.ts'
import { referencePage, tagAt, tagPage } from './reference-pages.ts'

const ShownChange = Exactly(
  {
    id: Type.String({ examples: ['2026-11-21-first-version'] }),
    date: Type.String({ format: 'date', examples: ['2026-11-21'] }),
    title: Type.String(),
    kind: OneOf(...KINDS),
    breaking: Type.Boolean({ description: 'Whether clients that worked before may have to change.' }),
    body: Type.String({ description: 'Markdown.' }),
    'openapi-sha256': About(
      'Of docs/openapi.json after the change, hexadecimal.',
      Type.String({ pattern: '^[0-9a-f]{64}$' }),
    ),
    url: Type.String({ format: 'uri' }),
  },
  { title: 'Change' },
)

const PAGE = { 200: answerFile('A page.', 'text/html') }
const UNCHANGED = { 304: { description: 'It is as the caller has it.' } }
const DOCUMENT = { 200: answerPlain('OpenAPI 3.1.', Type.Object({})), ...UNCHANGED }

const doc = documents('Documentation', 'The description of this API, and how it changed.')

const docs = {
  openapi: doc('showOpenApi', 'Describe the API for programs', DOCUMENT),
  stable: doc(
    'showStableOpenApi',
    'Describe the API for programs, where the Go client looks for it',
    DOCUMENT,
  ),
  index: doc('showReference', 'Describe the API for people', PAGE),
  tag: doc('showReferencePage', 'Describe a part of the API for people', PAGE),
  changelog: doc('showChangelog', 'Tell how the API changed, for people', PAGE),
  json: doc('listChanges', 'Tell how the API changed, for programs', {
    200: answerPlain('The changes, newest first.', Exactly({ changes: Type.Array(ShownChange) })),
    ...UNCHANGED,
  }),
  atom: doc('followChanges', 'Tell how the API changed, for feed readers', {
    200: answerFile('An Atom feed (RFC 4287).', 'application/atom+xml'),
    ...UNCHANGED,
  }),
}

/** Serves what `describe` tells of all routes, which is asked for once, when somebody wants to know. */
export function routesOf(describe: () => Promise<OpenApi>): Routes {
  const document = once(describe)
  const history = once(listChanges)

  return (app) => {
    for (const [url, doc] of [
      ['/openapi.json', docs.openapi],
      ['/openapi/stable.json', docs.stable],
    ] as const) {
      app.get(url, { config: { public: true, doc } }, async (request, reply) => {
        const { value, since } = await document(request.ctx.now())
        return sendFile(request, reply, { type: 'application/json', text: JSON.stringify(value), since })
      })
    }

    app.get('/docs', { config: { public: true, doc: docs.index } }, async ({ ctx }, reply) => {
      const { value } = await document(ctx.now())
      return sendReference(reply, 'API reference', referencePage(value))
    })

    app.get(
      '/docs/reference/:name',
      { config: { public: true, doc: docs.tag } },
      async ({ ctx, path }, reply) => {
        const { value } = await document(ctx.now())
        const tag = tagAt(value, path.name)
        if (tag === undefined) throw notFound()
        return sendReference(reply, tag, tagPage(value, tag))
      },
    )

    app.get('/docs/changelog', { config: { public: true, doc: docs.changelog } }, async ({ ctx }, reply) => {
      const { value } = await history(ctx.now())
      return sendReference(reply, 'Changes of the API', changelogPage(value))
    })

    app.get('/docs/changelog.json', { config: { public: true, doc: docs.json } }, async (request, reply) => {
      const { value, since } = await history(request.ctx.now())
      const text = JSON.stringify(changelogJson(value, request.ctx.baseUrl))
      return sendFile(request, reply, { type: 'application/json', text, since })
    })

    app.get(ATOM, { config: { public: true, doc: docs.atom } }, async (request, reply) => {
      const { value, since } = await history(request.ctx.now())
      const text = String(changelogAtom(value, request.ctx.baseUrl))
      return sendFile(request, reply, { type: 'application/atom+xml', text, since })
    })
  }
}

/** Makes something when it is first asked for, and again only if that failed; `since` is when it was made. */
function once<T>(make: () => Promise<T>) {
  let made: Promise<{ value: T; since: string }> | undefined
  return (now: string) => {
    made ??= make().then(
      (value) => ({ value, since: new Date(now).toUTCString() }),
      (error: unknown) => {
        made = undefined
        throw error
      },
    )
    return made
  }
}

function sendReference(reply: FastifyReply, title: string, body: Html) {
  return sendPage(reply, { title, body, wide: true, feed: ATOM })
}

interface File {
  type: string
  text: string
  since: string
}

/** Answers 304 to whoever has the same text already. */
function sendFile({ headers }: FastifyRequest, reply: FastifyReply, { type, text, since }: File) {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  reply.headers({ etag, 'last-modified': since, 'cache-control': 'no-cache' })
  const known = headers['if-none-match']
  const unchanged =
    known === undefined
      ? Date.parse(headers['if-modified-since'] ?? '') >= Date.parse(since)
      : known.includes(etag)
  return unchanged ? reply.code(304).send() : reply.type(type).send(text)
}
