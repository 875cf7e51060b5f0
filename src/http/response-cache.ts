import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Subject } from '../auth/subject.ts'
import { type Changes, type Mark, recordReads } from '../db/changes.ts'

/** Answers remembered, and the bytes of them, at most. */
const MAX_ANSWERS = 5_000
const MAX_BYTES = 32 * 2 ** 20
/** After this long an answer is made anew, so that the last use of its token is noted. */
const MAX_AGE_MS = 60_000

const MAX_ANSWER_BYTES = 256 * 2 ** 10

/** An answer that was given to one token for one address, and what it depends on. */
export interface CachedAnswer {
  mark: Mark
  /** The tables that were read for it, those for the token and its rights among them. */
  tables: ReadonlySet<string>
  subject: Subject
  /** In ms since 1970; not after the token's end. */
  expiresAt: number
  route: string
  headers: Record<string, string>
  body: string
}

interface Recording {
  key: string
  mark: Mark
  tables: Set<string>
}

/**
 * Remembers answers to GET requests, and gives them again as long as nothing that was read for them has
 * changed: neither the rows, nor the token, nor the rights of its owner. Asking costs little (see
 * `Changes`), so an answer is never out of date.
 */
export class ResponseCache {
  readonly #changes: Changes
  readonly #answers = new LRUCache<string, CachedAnswer>({
    max: MAX_ANSWERS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => body.length + 500,
  })
  readonly #recordings = new WeakMap<IncomingMessage, Recording>()

  constructor(changes: Changes) {
    this.#changes = changes
  }

  /**
   * Answers `request` by `give` when its answer is known and still right, and else by `handle`, during which
   * what it reads is recorded.
   */
  serve(
    request: IncomingMessage,
    response: ServerResponse,
    give: (answer: CachedAnswer) => void,
    handle: (request: IncomingMessage, response: ServerResponse) => void,
  ): void {
    const key = keyOf(request)
    if (key === undefined) {
      handle(request, response)
      return
    }
    const record = (mark: Mark) => {
      const tables = new Set<string>()
      this.#recordings.set(request, { key, mark, tables })
      recordReads(tables, () => handle(request, response))
    }
    const known = this.#answers.get(key)
    const decide = (now: Mark) => {
      const right =
        known && this.#changes.unchanged(known.mark, now, known.tables) && known.expiresAt > Date.now()
      if (right) give(known)
      else record(now)
    }
    const mark = this.#changes.mark()
    // A database that cannot be asked is away; the request finds that out for itself.
    if (typeof mark === 'object') mark.then(decide, () => handle(request, response))
    else decide(mark)
  }

  /**
   * Remembers what a request is being answered with, and gives the answer its ETag. Returns `known` when the
   * client says that it has this very answer.
   */
  keep(request: FastifyRequest, reply: FastifyReply, body: string): 'known' | 'new' {
    const recording = this.#recordings.get(request.raw)
    const { subject } = request.ctx
    const route = request.routeOptions.url
    if (!recording || !subject || !route || subject.kind === 'system' || reply.statusCode !== 200)
      return 'new'
    const etag = `W/"${hash('sha1', body, 'base64url')}"`
    reply.header('etag', etag)
    // Signed links in an answer grow old; a new answer has new ones.
    if (body.length > MAX_ANSWER_BYTES || body.includes('/storage/')) return 'new'
    this.#answers.set(recording.key, {
      ...recording,
      subject,
      route,
      body,
      expiresAt: Math.min(
        Date.now() + MAX_AGE_MS,
        subject.expiresAt ? Date.parse(subject.expiresAt) : Number.POSITIVE_INFINITY,
      ),
      headers: { 'content-type': String(reply.getHeader('content-type')), etag },
    })
    return request.headers['if-none-match'] === etag ? 'known' : 'new'
  }
}

/** What an answer is remembered by; undefined for requests whose answers are not. */
function keyOf({ method, url, headers }: IncomingMessage): string | undefined {
  if (method !== 'GET' || !url?.startsWith('/api/') || !headers.authorization) return undefined
  // Hashed, so that no token lies about in memory.
  return `${hash('sha256', headers.authorization, 'base64url')} ${url}`
}
