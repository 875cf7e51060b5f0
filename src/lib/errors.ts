/** Every way a request can fail on purpose, with the HTTP status and the JSON:API title it is answered with. */
export const FAILURES = {
  badRequest: { status: 400, title: 'bad request' },
  unauthorized: { status: 401, title: 'unauthorized' },
  forbidden: { status: 403, title: 'forbidden' },
  notFound: { status: 404, title: 'not found' },
  methodNotAllowed: { status: 405, title: 'method not allowed' },
  requestTimeout: { status: 408, title: 'request timeout' },
  conflict: { status: 409, title: 'conflict' },
  gone: { status: 410, title: 'gone' },
  preconditionFailed: { status: 412, title: 'precondition failed' },
  tooLarge: { status: 413, title: 'content too large' },
  uriTooLong: { status: 414, title: 'uri too long' },
  unsupportedMediaType: { status: 415, title: 'invalid content type' },
  rangeNotSatisfiable: { status: 416, title: 'range not satisfiable' },
  invalid: { status: 422, title: 'invalid attribute' },
  unprocessable: { status: 422, title: 'unprocessable entity' },
  tooManyRequests: { status: 429, title: 'too many requests' },
  headersTooLarge: { status: 431, title: 'request header fields too large' },
  internal: { status: 500, title: 'internal server error' },
  badGateway: { status: 502, title: 'bad gateway' },
  unavailable: { status: 503, title: 'service unavailable' },
  insufficientStorage: { status: 507, title: 'insufficient storage' },
} as const satisfies Record<string, { status: number; title: string }>

export type FailureCode = keyof typeof FAILURES

/** One thing that is wrong with a request, and where. */
export interface Violation {
  detail: string
  /** JSON pointer (RFC 6901) into the request body. */
  pointer?: string
  /** Name of the query parameter. */
  parameter?: string
}

/**
 * A failure that the caller caused or must know of. Services throw it; `http/server.ts` turns it into a
 * JSON:API error document with one error object per violation.
 */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: FailureCode
  readonly violations: readonly Violation[]
  /** Seconds after which the same request may be tried again, where that is known. */
  readonly retryAfter: number | undefined

  constructor(
    code: FailureCode,
    detail: string | readonly Violation[],
    options: { pointer?: string; parameter?: string; cause?: unknown; retryAfter?: number } = {},
  ) {
    const { cause, retryAfter, ...source } = options
    const violations = typeof detail === 'string' ? [{ detail, ...source }] : detail
    super(violations.map((violation) => violation.detail).join('; '), { cause })
    this.code = code
    this.violations = violations
    this.retryAfter = retryAfter
  }
}

/** The answer to a stranger and to a wrong address alike, so that nobody learns what exists. */
export function notFound(): AppError {
  return new AppError('notFound', 'The resource does not exist, or you are not authorized to see it.')
}

/** The answer when there is no room for what was to be stored, on whichever disk. */
export function storageFull(cause: unknown): AppError {
  const detail = 'The server has no space left to store this. Nothing was changed; reading goes on.'
  return new AppError('insufficientStorage', detail, { cause })
}

/** Throws when `violations` holds any, all of them in one error. */
export function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw new AppError('invalid', violations)
}

/** What a command cannot go on for; its message is for the operator, who needs no stack. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
