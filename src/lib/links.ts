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
  /** The token that the link was made for, of those that end with it. */
  tokenId?: string | undefined
}

/**
 * Links that carry their own permission: whoever has one may use it, without a token, until it expires, or until
 * the token ends that it was made for, if it names one. The signature stands in the path, where clients that rewrite
 * the query leave it alone.
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
    const token = target.tokenId ? `.${target.tokenId}` : ''
    const path = `/storage/${target.kind}/${target.id}/${expires}/${this.#signature(target, expires)}${token}`
    return this.#baseUrl() + path + (filename ? `/${encodeURIComponent(filename)}` : '')
  }

  /**
   * Whether the parts of a link's path were signed for `target` and have not expired, and for which token: whoever
   * asks has to see to it that the token still holds.
   */
  verify(
    target: Omit<LinkTarget, 'tokenId'>,
    expires: string,
    signature: string,
    now: string,
  ): { tokenId: string | undefined } | undefined {
    if (!/^\d{1,12}$/.test(expires) || Date.parse(now) >= Number(expires) * 1000) return undefined
    const [, digest = '', tokenId] = /^([\w-]+)(?:\.([\w-]+))?$/.exec(signature) ?? []
    const expected = Buffer.from(this.#signature({ ...target, tokenId }, Number(expires)))
    const given = Buffer.from(digest)
    return given.length === expected.length && timingSafeEqual(given, expected) ? { tokenId } : undefined
  }

  #signature({ method, kind, id, tokenId }: LinkTarget, expires: number): string {
    const parts = [method, kind, id, expires, ...(tokenId ? [tokenId] : [])]
    return createHmac('sha256', this.#key).update(parts.join('\n')).digest('base64url')
  }
}
