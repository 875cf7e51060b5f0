import { FAILURES, type FailureCode } from '../lib/errors.ts'
import type { JsonSchema, OpenApiReference, OpenApiResponse } from '../lib/openapi.ts'
import { FORM_TYPE } from './forms.ts'
import { MEDIA_TYPE } from './jsonapi.ts'
import type { DocumentedRoute } from './operation.ts'

/** When the failures happen that any route may answer with, depending on its form. */
const COMMON: Partial<Record<FailureCode, string>> = {
  badRequest: 'The body is not JSON, or a query parameter has a value that it cannot have.',
  unauthorized: 'There is no valid token.',
  notFound: 'It does not exist, or the caller may not know of it or may not do this.',
  tooLarge: 'The body is larger than 1 MiB.',
  unsupportedMediaType: 'The body is not `application/vnd.api+json`.',
  invalid: 'Attributes are missing or have values they cannot have: one error for each.',
  tooManyRequests: 'The caller has used up its requests; `retry-after` says for how many seconds.',
}

/** Every error document. */
export const ERRORS: JsonSchema = {
  type: 'object',
  description: 'One error for each thing that is wrong.',
  required: ['errors'],
  additionalProperties: false,
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['status', 'title'],
        additionalProperties: false,
        properties: {
          status: { type: 'string', description: 'The HTTP status, as a string.', examples: ['422'] },
          title: { type: 'string', examples: ['invalid attribute'] },
          detail: { type: 'string', examples: ["Name can't be blank"] },
          source: {
            type: 'object',
            additionalProperties: false,
            properties: {
              pointer: {
                type: 'string',
                description: 'JSON pointer into the request body.',
                examples: ['/data/attributes/name'],
              },
              parameter: { type: 'string', description: 'Name of the query parameter.' },
            },
          },
        },
      },
    },
  },
}

/** Which of the common failures a route may answer with, from its form. */
function commonFailures({ url, schema, config }: DocumentedRoute): FailureCode[] {
  const { doc, public: isPublic, signedLink, access } = config
  const codes: FailureCode[] = []
  const reads = Object.values(doc.answers).some(({ paginated }) => paginated)
  if (schema?.body || schema?.querystring || reads) codes.push('badRequest')
  if (!isPublic) codes.push('unauthorized')
  if (url.includes(':') || access) codes.push('notFound')
  if (schema?.body) codes.push('tooLarge', 'unsupportedMediaType', 'invalid')
  if (!signedLink) codes.push('tooManyRequests')
  return codes
}

/** The statuses of the failures that a route may answer with, and when each happens. */
export function failuresOf(route: DocumentedRoute): Map<number, { codes: FailureCode[]; when: string[] }> {
  const own = route.config.doc.failures ?? {}
  const codes = new Set([...commonFailures(route), ...(Object.keys(own) as FailureCode[])])
  const byStatus = new Map<number, { codes: FailureCode[]; when: string[] }>()
  for (const code of codes) {
    const { status } = FAILURES[code]
    const { codes: others = [], when = [] } = byStatus.get(status) ?? {}
    const told = own[code] ?? COMMON[code] ?? FAILURES[code].title
    byStatus.set(status, { codes: [...others, code], when: [...when, told] })
  }
  return byStatus
}

const JSON_API = { [MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Errors' } } }

/** The responses that operations refer to by the name of the failure. */
export function commonResponses(): Record<string, OpenApiResponse> {
  const responses = Object.entries(COMMON).map(([code, description]) => [
    code,
    { description, content: JSON_API },
  ])
  return {
    ...Object.fromEntries(responses),
    default: { description: 'The server failed.', content: JSON_API },
  }
}

/** The responses of a route that are failures: references where nothing is said of this route in particular. */
export function failureResponses(route: DocumentedRoute): Record<string, OpenApiResponse | OpenApiReference> {
  const responses: Record<string, OpenApiResponse | OpenApiReference> = {}
  const content = isPage(route) ? { 'text/html': { schema: { type: 'string' } } } : JSON_API
  for (const [status, { codes, when }] of failuresOf(route)) {
    const [code] = codes as [FailureCode]
    const isCommon = content === JSON_API && codes.length === 1 && when[0] === COMMON[code]
    responses[status] = isCommon
      ? { $ref: `#/components/responses/${code}` }
      : { description: when.join(' '), content }
  }
  return { ...responses, default: { $ref: '#/components/responses/default' } }
}

/** Pages fail as pages. */
function isPage({ config: { doc } }: DocumentedRoute): boolean {
  const { answers, upload } = doc
  return (
    upload?.mediaType === FORM_TYPE ||
    Object.values(answers).some(({ mediaType }) => mediaType === 'text/html')
  )
}
