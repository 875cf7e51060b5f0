import { createHmac, timingSafeEqual } from 'node:crypto'

/** How long an upload may begin after its link was made: a day, so that a slow pipeline can finish. */
export const UPLOAD_SECONDS = 25 * 3600

/** How long a download may begin after its link was made. */
export const DOWNLOAD_SECONDS = 15 * 60

/** What a link allows: one method on one object of one kind, until a moment. */
export interface LinkTarget {
  method: 'PUT' | 'GET'
  kind: string
  id: string
}

/**
 * Links that carry their own permission: whoever has one may use it, without a token, until it expires.
 * The signature stands in the path, where clients that rewrite the query leave it alone.
 */
export class Links {
  readonly #key: Buffer
  readonly #baseUrl: () => string

  constructor(key: Buffer, baseUrl: () => string) {
    this.#key = key
    this.#baseUrl = baseUrl
  }

  /** The absolute address for `target`, valid for `seconds` after `now`; `filename` is for people to read. */
  sign(target: LinkTarget, now: string, seconds: number, filename?: string): string {
    const expires = Math.floor(Date.parse(now) / 1000) + seconds
    const path = `/storage/${target.kind}/${target.id}/${expires}/${this.#signature(target, expires)}`
    return this.#baseUrl() + path + (filename ? `/${encodeURIComponent(filename)}` : '')
  }

  /** Whether the parts of a link's path were signed for `target` and have not expired. */
  verify(target: LinkTarget, expires: string, signature: string, now: string): boolean {
    if (!/^\d{1,12}$/.test(expires) || Date.parse(now) >= Number(expires) * 1000) return false
    const expected = Buffer.from(this.#signature(target, Number(expires)))
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected)
  }

  #signature({ method, kind, id }: LinkTarget, expires: number): string {
    return createHmac('sha256', this.#key).update([method, kind, id, expires].join('\n')).digest('base64url')
  }
}
