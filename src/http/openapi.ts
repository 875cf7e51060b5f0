import fastify from 'fastify'
import { CALLERS, describeCallers } from '../auth/callers.ts'
import type {
  JsonSchema,
  OpenApi,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiResponse,
} from '../lib/openapi.ts'
import { MEDIA_TYPE } from './jsonapi.ts'
import { commonResponses, ERRORS, failureResponses } from './openapi-failures.ts'
import { acceptsNothing, Schemas } from './openapi-schemas.ts'
import type { Answer, DocumentedRoute } from './operation.ts'
import { PATH_PARAMS } from './path-params.ts'
import type { App, Routes } from './routes.ts'

/** Of the public API that this one follows, as `tfp-api-version` says. */
const API_VERSION = '2.6'

const DESCRIPTION = `
The API of Plinth, in the form of [JSON:API](https://jsonapi.org).

- Every request carries a token: \`Authorization: Bearer …\`. Links to storage carry their own permission.
- A request is checked in this order: token (401), existence and right (404), media type (415), JSON (400),
  attributes (422). Who may not know of something gets the same 404 as for what does not exist.
- Every violation of a request is in one \`errors\` array, with a pointer to its place.
- Attributes and query parameters that are not described here are ignored.
- Lists have pages of 20 items unless asked for, at most 100.
- Times are ISO 8601 in UTC; sizes are in bytes; durations name their unit.
- HEAD answers wherever GET does, without a body.
- Changes are dated: [/docs/changelog](/docs/changelog).
`.trim()

const PAGE_PARAMETERS: Record<string, OpenApiParameter> = {
  pageNumber: {
    name: 'page[number]',
    in: 'query',
    required: false,
    description: 'Which page, counted from 1. A page beyond the end is empty.',
    schema: { type: 'integer', minimum: 1, default: 1 },
  },
  pageSize: {
    name: 'page[size]',
    in: 'query',
    required: false,
    description: 'Items on a page. More than 100 count as 100.',
    schema: { type: 'integer', minimum: 1, default: 20 },
  },
}

/** Every route that these mount; throws for one that does not say what it does. */
export async function collect(mounts: readonly Routes[]): Promise<DocumentedRoute[]> {
  const routes: DocumentedRoute[] = []
  const app = fastify({ exposeHeadRoutes: false }) as unknown as App
  app.setValidatorCompiler(() => () => true)
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    if (method === 'HEAD') return
    if (!config?.doc) throw new Error(`${method} ${url} does not say what it does: config.doc is missing`)
    routes.push({ method: String(method), url, schema, config: { ...config, doc: config.doc } })
  })
  for (const mount of mounts) mount(app)
  await app.ready()
  return routes
}

/** The OpenAPI document of these routes. */
export function describe(routes: readonly DocumentedRoute[]): OpenApi {
  const schemas = new Schemas()
  const paths: OpenApi['paths'] = {}
  for (const route of routes.toSorted(byAddress)) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route, schemas) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Plinth',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'MPL-2.0', identifier: 'MPL-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [{ token: [] }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Of a user, a team or an organization; of a pool of agents for agents.',
        },
      },
      parameters: PAGE_PARAMETERS,
      responses: commonResponses(),
      schemas: { Errors: ERRORS, ...sorted(schemas.named) },
    },
  }
}

function byAddress(a: DocumentedRoute, b: DocumentedRoute): number {
  return compare(a.url, b.url) || compare(a.method, b.method)
}

/** By code points: the order must not depend on the language of the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function sorted<T>(named: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => compare(a, b)))
}

function tagsOf(routes: readonly DocumentedRoute[]) {
  const abouts = Object.fromEntries(routes.map(({ config: { doc } }) => [doc.tag, doc.about]))
  return Object.entries(sorted(abouts)).map(([name, description]) => ({ name, description }))
}

function toOperation(route: DocumentedRoute, schemas: Schemas): OpenApiOperation {
  const { doc, public: isPublic } = route.config
  const body = toRequestBody(route, schemas)
  const callers = CALLERS[doc.id]
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    description: [doc.description, callers && describeCallers(callers)].filter(Boolean).join('\n\n'),
    ...(isPublic && { security: [] }),
    parameters: toParameters(route, schemas),
    ...(body && { requestBody: body }),
    responses: { ...toResponses(doc.answers, schemas), ...failureResponses(route) },
  }
}

function toParameters({ url, schema, config }: DocumentedRoute, schemas: Schemas) {
  const parameters: (OpenApiParameter | OpenApiReference)[] = [...url.matchAll(/:(\w+)/g)].map(
    ([, name = '']) => {
      const { description, example } = PATH_PARAMS[name as keyof typeof PATH_PARAMS]
      return {
        name,
        in: 'path',
        required: true,
        description,
        schema: { type: 'string', examples: [example] },
      }
    },
  )
  const { properties = {} } = (schema?.querystring ?? {}) as { properties?: Record<string, JsonSchema> }
  for (const [name, property] of Object.entries(properties)) {
    const { description, ...rest } = schemas.convert(property)
    const said = typeof description === 'string' && { description }
    parameters.push({ name, in: 'query', required: false, ...said, schema: rest })
  }
  if (Object.values(config.doc.answers).some(({ paginated }) => paginated)) {
    parameters.push(
      ...Object.keys(PAGE_PARAMETERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    )
  }
  return parameters
}

function toRequestBody({ schema, config }: DocumentedRoute, schemas: Schemas) {
  const { upload } = config.doc
  if (upload) {
    const { description, mediaType } = upload
    return { required: true, description, content: { [mediaType]: { schema: {} } } }
  }
  if (!schema?.body) return undefined
  const body = schema.body as JsonSchema
  return {
    required: !acceptsNothing(body),
    content: { [config.doc.consumes ?? MEDIA_TYPE]: { schema: schemas.convert(body) } },
  }
}

function toResponses(answers: Record<number, Answer>, schemas: Schemas): Record<string, OpenApiResponse> {
  const responses: Record<string, OpenApiResponse> = {}
  for (const [status, { description, schema, mediaType }] of Object.entries(answers)) {
    const content = mediaType && { [mediaType]: { schema: schema ? schemas.convert(schema) : {} } }
    responses[status] = content ? { description, content } : { description }
  }
  return responses
}
