import { openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import {
  type Assignment,
  type Channel,
  type Fetched,
  LostExecution,
  type Outcome,
  type Produced,
  type Report,
  StateRefused,
} from '../engine/channel.ts'
import type { WorkerLog } from '../engine/options.ts'
import { Backoff, type Call, type Client, Refusal } from './client.ts'

/** The server waits twenty seconds for work, and may be slow besides. */
const CLAIM_MS = 45_000

/** A lease lasts half a minute. */
const HEARTBEAT_MS = 8_000

const CALL_MS = 30_000

/** Characters of a log that are sent at once; each is at most three bytes of the body, which may have a mebibyte. */
const LOG_CHARACTERS = 256 * 1024

/** What the server answers to those who hold nothing, or are nobody any more. */
const LOST = [401, 404, 410]

/** What it will answer to the same state whenever it comes. */
const REFUSED = [409, 412, 413, 422]

export interface Identity {
  name: string
  version: string
}

/** How agents speak with the server: over HTTPS, each call beginning with them. */
export class RemoteChannel implements Channel {
  readonly #client: Client
  readonly #identity: Identity
  readonly #log: WorkerLog
  readonly #onRejected: (reason: string) => void
  readonly #backoff = new Backoff()
  #id: string | undefined

  /** `onRejected` is called once the server does not take the token any more. */
  constructor(client: Client, identity: Identity, log: WorkerLog, onRejected: (reason: string) => void) {
    this.#client = client
    this.#identity = identity
    this.#log = log
    this.#onRejected = onRejected
  }

  /** Makes the agent known to the server. Throws a `Refusal` when the token is not one of a pool. */
  async register(signal: AbortSignal): Promise<string> {
    const answer = await this.#client.send('POST', '/agents', { ...json(this.#identity), ...soon(signal) })
    const { id } = (await answer.json()) as { id: string }
    this.#id = id
    return id
  }

  /** Tells the server that the agent ends. */
  async leave(): Promise<void> {
    if (this.#id) await this.#client.send('DELETE', `/agents/${this.#id}`, { timeout: HEARTBEAT_MS })
  }

  async claim(signal: AbortSignal): Promise<Assignment | undefined> {
    try {
      const id = this.#id ?? (await this.register(signal))
      const answer = await this.#client.send('POST', `/agents/${id}/claim`, { signal, timeout: CLAIM_MS })
      this.#backoff.reset()
      return answer.status === 204 ? undefined : ((await answer.json()) as Assignment)
    } catch (error) {
      if (signal.aborted) return undefined
      this.#judge(error)
      await this.#backoff.wait(signal)
      return undefined
    }
  }

  #judge(error: unknown): void {
    const status = error instanceof Refusal ? error.status : undefined
    const isUnknown = status === 404 && !this.#id
    if (status === 401 || isUnknown) {
      this.#onRejected(status === 401 ? 'the server does not take the token' : 'the token is no pool’s')
      return
    }
    // Somebody has deleted the agent: it makes itself known again.
    if (status === 404) this.#id = undefined
    this.#log.warn({ err: error }, 'the server could not be asked for a run; trying again')
  }

  async heartbeat(executionId: string): Promise<'cancel' | 'force' | null> {
    const answer = await this.#about(executionId, 'POST', 'heartbeat', { timeout: HEARTBEAT_MS })
    const { cancel } = (await answer.json()) as { cancel: 'cancel' | 'force' | null }
    return cancel
  }

  async report(executionId: string, report: Report): Promise<void> {
    await this.#about(executionId, 'POST', 'report', { ...json(report), timeout: CALL_MS })
  }

  async appendLog(executionId: string, start: number, text: string): Promise<void> {
    let at = start
    for (const part of partsOf(text)) {
      const call = { body: part, type: 'text/plain', timeout: CALL_MS }
      await this.#about(executionId, 'POST', `log?start=${at}`, call)
      at += Buffer.byteLength(part)
    }
  }

  async fetch(executionId: string, file: Fetched): Promise<Readable | undefined> {
    const { status, body } = await this.#about(executionId, 'GET', `files/${file}`)
    return status === 204 || !body ? undefined : Readable.fromWeb(body)
  }

  async produce(executionId: string, file: Produced, path: string): Promise<void> {
    const body = await openAsBlob(path)
    await this.#about(executionId, 'PUT', `files/${file}`, { body }).catch(refuseState)
  }

  async saveState(executionId: string, path: string, jsonPath: string | undefined): Promise<void> {
    const raw = await openAsBlob(path)
    const body = new Blob(jsonPath === undefined ? [raw] : [raw, await openAsBlob(jsonPath)])
    await this.#about(executionId, 'PUT', `state?raw=${raw.size}`, { body }).catch(refuseState)
  }

  async keepErroredState({ recoveryUrl }: Assignment, path: string): Promise<void> {
    await this.#client.put(recoveryUrl, await openAsBlob(path))
  }

  async finish(executionId: string, outcome: Outcome): Promise<void> {
    await this.#about(executionId, 'POST', 'finish', { ...json(outcome), timeout: CALL_MS })
  }

  /** Throws `LostExecution` when the agent does not hold it. */
  async #about(executionId: string, method: string, what: string, call?: Call): Promise<Response> {
    const path = `/agents/${this.#id}/executions/${executionId}/${what}`
    try {
      return await this.#client.send(method, path, call)
    } catch (error) {
      if (error instanceof Refusal && LOST.includes(error.status)) throw new LostExecution(error.message)
      throw error
    }
  }
}

function refuseState(error: unknown): never {
  if (error instanceof Refusal && REFUSED.includes(error.status)) throw new StateRefused(error.message)
  throw error
}

function json(value: object): Call {
  return { body: JSON.stringify(value), type: 'application/json' }
}

function soon(signal: AbortSignal): Call {
  return { signal, timeout: CALL_MS }
}

/** The text in parts, none of which ends between the halves of a character. */
function* partsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + LOG_CHARACTERS, text.length)
    if (to < text.length && isHigh(text.charCodeAt(to - 1))) to -= 1
    yield text.slice(from, to)
    from = to
  }
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
