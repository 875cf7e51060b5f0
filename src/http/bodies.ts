import { AppError } from '../lib/errors.ts'
import type { App } from './routes.ts'

/** The media type of JSON that is not JSON:API's. */
export const JSON_TYPE = 'application/json'

/** Makes the routes of `scope` take plain JSON, and nothing else. */
export function takeJson(scope: App): void {
  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_TYPE, { parseAs: 'string' }, (request, text, done) =>
    parseJson(request, text as string, (error, body) =>
      done(error && new AppError('badRequest', 'The body is not valid JSON.'), body),
    ),
  )
}

/** Makes the routes of `scope` take bytes of any kind, which nobody reads before the handler does. */
export function takeBytes(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
}
