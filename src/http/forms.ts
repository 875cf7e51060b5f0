import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import type { App } from './routes.ts'

export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** For the documentation of routes that take forms. */
export const FORM = { description: 'The fields of a form.', mediaType: FORM_TYPE }

export const FORM_FAILURES = {
  forbidden: 'The form does not come from a page of this server.',
  tooLarge: 'The form is larger than 16 KiB.',
  unsupportedMediaType: 'The body is no form.',
}

/** Forms hold a few short fields. */
const MAX_FORM_BYTES = 16 * 1024

/** The fields of a form by their names. A name that came twice is left out, so that no two readers disagree. */
export type Form = Partial<Record<string, string>>

/** Makes `scope` take forms, and nothing else, as bodies. */
export function parseForms(scope: App): void {
  scope.removeAllContentTypeParsers()
  const options = { parseAs: 'string', bodyLimit: MAX_FORM_BYTES } as const
  scope.addContentTypeParser(FORM_TYPE, options, (_request, text, done) => done(null, fieldsOf(String(text))))
}

/** The query of the request's address, read as a form is. */
export function queryOf({ url }: FastifyRequest): Form {
  return fieldsOf(/\?(.*)/s.exec(url)?.[1] ?? '')
}

function fieldsOf(text: string): Form {
  const parameters = new URLSearchParams(text)
  return Object.fromEntries([...parameters].filter(([name]) => parameters.getAll(name).length === 1))
}

/**
 * What a form carries to show that it comes from a page that we gave to the holder of the cookie `secret`. It
 * follows from the cookie, which it does not give away, and is worth nothing without it.
 */
export function formToken(secret: string): string {
  return createHmac('sha256', secret).update('form').digest('base64url')
}

/** Ends the request unless its form was sent by one of our pages, in the browser that holds `secret`. */
export function refuseForeignForm(request: FastifyRequest, secret: string | undefined): void {
  const given = Buffer.from((request.body as Form)['form-token'] ?? '')
  const expected = Buffer.from(secret ? formToken(secret) : '')
  const same = secret !== undefined && given.length === expected.length && timingSafeEqual(given, expected)
  if (same && isSameOrigin(request)) return
  throw new AppError('forbidden', 'This form is no longer valid. Go back, load the page again, and repeat.')
}

/** Browsers tell where a form was sent from; who does not tell is refused. */
function isSameOrigin({ headers, ctx }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  const origin = URL.parse(headers.origin ?? '')
  if (!origin) return false
  return origin.origin === new URL(ctx.baseUrl).origin || origin.host === headers.host
}
