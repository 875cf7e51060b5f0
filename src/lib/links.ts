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
  /** Whom the link was given to, where it matters who uses it. Their rights do not. */
  requestedBy?: string | undefined
}

/**
 * Links that carry their own permission: whoever has one may use it, without a token, until it expires, or until
 * the token ends that it was made for, if it names one. The signature stands in the path, where clients that rewrite
 * the query leave it alone.
 */
export class Links {
  readonly #key: Buffer
  readonly #oldKeys: readonly Buffer[]
  readonly #baseUrl: () => string

  /** Links that were signed with one of `oldKeys` still hold: runs that go on while the key changes have some. */
  constructor(key: Buffer, baseUrl: () => string, oldKeys: readonly Buffer[] = []) {
    this.#key = key
    this.#oldKeys = oldKeys
    this.#baseUrl = baseUrl
  }

  /** The absolute address for `target`, valid for `seconds` after `now`; `filename` is for people to read. */
  sign(target: LinkTarget, now: string, seconds: number, filename?: string): string {
    const expires = Math.floor(Date.parse(now) / 1000) + seconds
    const path = `/storage/${target.kind}/${target.id}/${expires}/${signature(this.#key, target, expires)}${suffixOf(target)}`
    return this.#baseUrl() + path + (filename ? `/${encodeURIComponent(filename)}` : '')
  }

  /**
   * Whether the parts of a link's path were signed for `target` and have not expired, and for which token, or at whose
   * request: whoever asks has to see to it that the token still holds.
   */
  verify(
    target: Omit<LinkTarget, 'tokenId' | 'requestedBy'>,
    expires: string,
    given: string,
    now: string,
  ): Pick<LinkTarget, 'tokenId' | 'requestedBy'> | undefined {
    if (!/^\d{1,12}$/.test(expires) || Date.parse(now) >= Number(expires) * 1000) return undefined
    const [, digest = '', tokenId, requestedBy] = /^([\w-]+)(?:\.([\w-]+))?(?:~([\w-]+))?$/.exec(given) ?? []
    const bytes = Buffer.from(digest)
    const holds = [this.#key, ...this.#oldKeys].some((key) => {
      const expected = Buffer.from(signature(key, { ...target, tokenId, requestedBy }, Number(expires)))
      return bytes.length === expected.length && timingSafeEqual(bytes, expected)
    })
    return holds ? { tokenId, requestedBy } : undefined
  }
}

/** What stands behind the signature in a path, and is signed with the rest. */
function suffixOf({ tokenId, requestedBy }: LinkTarget): string {
  return `${tokenId ? `.${tokenId}` : ''}${requestedBy ? `~${requestedBy}` : ''}`
}

function signature(
  key: Buffer,
  { method, kind, id, tokenId, requestedBy }: LinkTarget,
  expires: number,
): string {
  const parts = [
    method,
    kind,
    id,
    expires,
    ...(tokenId ? [tokenId] : []),
    ...(requestedBy ? [`~${requestedBy}`] : []),
  ]
  return createHmac('sha256', key).update(parts.join('\n')).digest('base64url')
}
