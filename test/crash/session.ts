import { setTimeout as sleep } from 'node:timers/promises'
import { MEDIA_TYPE } from '../harness.ts'
import type { Random } from './random.ts'

/** The connection broke: what was asked for may have happened or not. */
export class Cut extends Error {
  override name = 'Cut'
}

const UPLOAD_CHUNK = 32 << 10

/** What several clients of one server share while it is killed under them, and what they counted. */
export class Session {
  url = ''
  token = ''
  acknowledged = 0
  uploadsCut = 0
  checks = 0
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** Asks for something that must exist. */
  // biome-ignore lint/suspicious/noExplicitAny: the crash test looks into answers of every shape.
  async get(path: string): Promise<any> {
    const response = await this.#send('GET', path)
    return cuttable(response.json())
  }

  /** The bytes behind a signed link. */
  async download(link: string): Promise<Buffer> {
    const response = await this.#send('GET', link)
    return Buffer.from(await cuttable(response.arrayBuffer()))
  }

  /** Changes something; calls `acknowledged` when the head of a successful answer arrived. */
  // biome-ignore lint/suspicious/noExplicitAny: the crash test looks into answers of every shape.
  async change(method: string, path: string, body: unknown, acknowledged: () => void): Promise<any> {
    const response = await this.#send(method, path, body === undefined ? undefined : JSON.stringify(body))
    this.acknowledged += 1
    acknowledged()
    const text = await cuttable(response.text())
    return text === '' ? undefined : JSON.parse(text)
  }

  /** Uploads in small pieces, so that there is a middle to be killed in. */
  async upload(link: string, bytes: Buffer, acknowledged: () => void): Promise<void> {
    const sent = this.#send('PUT', link, ReadableStream.from(this.#pieces(bytes))).catch((error: unknown) => {
      if (error instanceof Cut) this.uploadsCut += 1
      throw error
    })
    const response = await sent
    this.acknowledged += 1
    acknowledged()
    await cuttable(response.arrayBuffer())
  }

  /** Throws unless `holds`; counted, so that a run can say how much it looked at. */
  check(holds: boolean, violation: string): void {
    this.checks += 1
    if (!holds) throw new Error(violation)
  }

  async *#pieces(bytes: Buffer) {
    for (let at = 0; at < bytes.length; at += UPLOAD_CHUNK) {
      yield new Uint8Array(bytes.subarray(at, at + UPLOAD_CHUNK))
      if (this.#random.happens(0.5)) await sleep(this.#random.between(0, 8))
    }
  }

  async #send(method: string, path: string, body?: string | ReadableStream): Promise<Response> {
    const isLink = path.startsWith('http')
    const response = await cuttable(
      fetch(isLink ? path : this.url + path, {
        method,
        headers: isLink ? {} : { authorization: `Bearer ${this.token}`, 'content-type': MEDIA_TYPE },
        ...(body !== undefined && { body, duplex: 'half' }),
      }),
    )
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${await cuttable(response.text())}`)
    }
    return response
  }
}

async function cuttable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new Cut('the connection broke', { cause })
  }
}

/** One of the clients. */
export interface Actor {
  /** Does one thing. */
  step: () => Promise<void>
  /** Compares everything it did with what the server has. */
  check: () => Promise<void>
}
