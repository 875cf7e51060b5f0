import { CliError, type Exit } from '../errors.ts'
import { explainConnection, type Retries, retryAfterOf, Transient, withRetries } from './retries.ts'

/** A resource of the API. */
export interface Resource {
  id: string
  type: string
  attributes: Record<string, unknown>
  links?: Record<string, unknown>
}

/** What the API answers. */
export interface Document {
  data: Resource | Resource[]
  meta?: { pagination?: { 'next-page'?: number | null } } & Record<string, unknown>
}

const MEDIA_TYPE = 'application/vnd.api+json'
const TIMEOUT_MS = 60_000

/** An answer that says no. */
export class ApiError extends CliError {
  override name = 'ApiError'
  readonly status: number

  constructor(exit: Exit, message: string, status: number, options: { details: string[]; advice?: string }) {
    super(exit, message, options)
    this.status = status
  }
}

/** Speaks to one server for one token. Every method throws `CliError`. */
export class Client {
  readonly server: URL
  readonly #token: string
  readonly retries: Retries

  constructor(connection: { server: URL; token: string }, retries: Retries) {
    this.server = connection.server
    this.#token = connection.token
    this.retries = retries
  }

  async get(path: string): Promise<Resource> {
    return one(await this.document(path))
  }

  document(path: string): Promise<Document> {
    return this.#json('GET', path)
  }

  /** A resource, or undefined where the answer is 404. */
  async find(path: string): Promise<Resource | undefined> {
    return this.get(path).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    })
  }

  /** Every page of a list. */
  async list(path: string): Promise<Resource[]> {
    const items: Resource[] = []
    for (let page: number | null | undefined = 1; page; ) {
      const separator = path.includes('?') ? '&' : '?'
      const document: Document = await this.document(`${path}${separator}page[size]=100&page[number]=${page}`)
      items.push(...[document.data].flat())
      page = document.meta?.pagination?.['next-page']
    }
    return items
  }

  async post(path: string, type: string, attributes: object): Promise<Resource> {
    return one(await this.#json('POST', path, { data: { type, attributes } }))
  }

  async patch(path: string, type: string, attributes: object): Promise<Resource> {
    return one(await this.#json('PATCH', path, { data: { type, attributes } }))
  }

  /** JSON of any shape, from an address of this server, and where it was in the end. */
  plain(address: URL | string): Promise<{ url: URL; body: unknown }> {
    const request = {
      url: new URL(address, this.server),
      accept: 'application/json',
      sends: 'token',
    } as const
    return this.#request(request, async (response) => ({
      url: new URL(response.url),
      body: await jsonOf(response, request.url),
    }))
  }

  /** What `read` makes of a file; its link carries its own permission. */
  file<T>(address: string | URL, read: (response: Response) => Promise<T>): Promise<T> {
    return this.#request({ url: new URL(address, this.server), accept: '*/*' }, read)
  }

  /** What `read` makes of an answer of the API that may be long, or that is in its headers. */
  answer<T>(address: string | URL, read: (response: Response) => Promise<T>): Promise<T> {
    return this.#request(
      { url: new URL(address, this.server), accept: '*/*', sends: 'token', isLong: true },
      read,
    )
  }

  /** A small file as a whole. */
  bytes(address: string | URL): Promise<Buffer> {
    return this.file(address, async (response) => Buffer.from(await response.arrayBuffer()))
  }

  #json(method: string, path: string, body?: object): Promise<Document> {
    const url = new URL(path, this.server)
    return this.#request(
      { url, method, body, accept: MEDIA_TYPE, sends: 'token' },
      async (response) => (await jsonOf(response, url)) as Document,
    )
  }

  /** Asks until there is an answer that counts, and throws unless it is one of success. */
  #request<T>(request: Request, read: (response: Response) => Promise<T>): Promise<T> {
    const { url, method = 'GET', sends } = request
    const { signal } = this.retries
    return withRetries(this.retries, async () => {
      try {
        const response = await this.#send(request)
        if (response.ok) return await read(response)
        const what = `${method} ${sends ? url.pathname : 'of a file'} at ${url.host}`
        throw refusal(response.status, await response.text(), what, response.headers.get('retry-after'))
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof CliError ? error : explainConnection(error, url.host)
      }
    })
  }

  #send({ url, method = 'GET', body, accept, sends, isLong }: Request): Promise<Response> {
    const { signal } = this.retries
    return fetch(url, {
      method,
      headers: {
        accept,
        'user-agent': 'plinth-cli',
        ...(sends && url.origin === this.server.origin && { authorization: `Bearer ${this.#token}` }),
        ...(body && { 'content-type': MEDIA_TYPE }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: sends && !isLong ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) : signal,
    })
  }
}

interface Request {
  url: URL
  method?: string
  body?: object | undefined
  accept: string
  /** The token goes to this server only, and never with the link of a file, which carries its own permission. */
  sends?: 'token'
  /** Of answers of the API all others are small, and have to come soon. */
  isLong?: boolean
}

function one({ data }: Document): Resource {
  const [resource] = [data].flat()
  if (!resource) throw new CliError('unexpected', 'the server answered without a resource')
  return resource
}

async function jsonOf(response: Response, { host, pathname }: URL): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CliError('unexpected', `${host}${pathname} does not answer in JSON`, {
      advice: 'Is --server the address of the registry itself?',
      cause: error,
    })
  }
}

const EXIT_OF_STATUS: Record<number, Exit> = {
  401: 'access',
  403: 'access',
  404: 'access',
  405: 'usage',
  409: 'conflict',
}

const ADVICE: Record<number, string> = {
  401: 'The token is wrong, has expired or was revoked. Set another one in PLINTH_TOKEN.',
  403: 'The token may not do this.',
  404: 'Either it does not exist, or the token may not see it: check the organization and the token.',
  405: 'This server does not offer it.',
}

/** What to throw for an answer that is no success. */
export function refusal(
  status: number,
  text: string,
  what: string,
  retryAfter: string | null | undefined,
): CliError {
  const details = detailsOf(text)
  const message = `${what} was answered ${status}`
  if (status === 408 || status === 429 || status >= 500) {
    return new Transient(message, { details, retryAfter: retryAfterOf(retryAfter) })
  }
  const advice = ADVICE[status]
  return new ApiError(EXIT_OF_STATUS[status] ?? 'release', message, status, {
    details,
    ...(advice && { advice }),
  })
}

interface ErrorObject {
  title?: string
  detail?: string
  source?: { pointer?: string; parameter?: string }
}

/** The errors of a JSON:API document, one line each. */
function detailsOf(text: string): string[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: (ErrorObject | string)[] }
    return (errors ?? []).map((error) => {
      if (typeof error === 'string') return error
      const place = error.source?.pointer ?? error.source?.parameter
      return `${error.detail ?? error.title ?? 'no detail'}${place ? ` (${place})` : ''}`
    })
  } catch {
    return []
  }
}
