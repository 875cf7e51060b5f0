import { setTimeout as sleep } from 'node:timers/promises'

/** An answer that is no success. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number

  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

export interface Call {
  body?: string | Blob
  /** Of the body. */
  type?: string
  /** Milliseconds after which the answer is not waited for any longer. */
  timeout?: number
  signal?: AbortSignal
}

/** Speaks to the server as an agent. The token stands in a header, and in nothing that is logged. */
export class Client {
  readonly #address: string
  readonly #token: string

  constructor(address: string, token: string) {
    this.#address = address
    this.#token = token
  }

  /** The answer of the agent protocol at `path`. Throws a `Refusal` for what is no success. */
  send(method: string, path: string, call: Call = {}): Promise<Response> {
    return this.#request(method, `/api/agent/v1${path}`, call, { authorization: `Bearer ${this.#token}` })
  }

  /** Sends a file to a link of the server, at the address by which the agent reaches it. */
  async put(link: string, body: Blob): Promise<void> {
    await this.#request('PUT', link.slice(link.indexOf('/storage/')), { body }, {})
  }

  async #request(method: string, path: string, call: Call, headers: Record<string, string>) {
    const { body, type = 'application/octet-stream', timeout, signal } = call
    const signals = [...(signal ? [signal] : []), ...(timeout ? [AbortSignal.timeout(timeout)] : [])]
    const response = await fetch(this.#address + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      // Whoever could send the agent elsewhere would get its token.
      redirect: 'error',
    })
    if (response.ok) return response
    throw new Refusal(response.status, await detailOf(response))
  }
}

async function detailOf(response: Response): Promise<string> {
  const said = await response.text().catch(() => '')
  try {
    const { errors } = JSON.parse(said) as { errors: { detail?: string }[] }
    return errors.map(({ detail }) => detail).join('; ')
  } catch {
    return `the server answered ${response.status}`
  }
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000

/** How long to wait after failures: longer after each, and not for all agents alike. */
export class Backoff {
  #pause = FIRST_PAUSE_MS

  reset(): void {
    this.#pause = FIRST_PAUSE_MS
  }

  async wait(signal: AbortSignal): Promise<void> {
    const pause = this.#pause * (0.75 + Math.random() / 2)
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    await sleep(pause, undefined, { signal }).catch(() => {})
  }
}
