import { type Answer, type Client, expectStatus, type TestOrganization, unique } from './harness.ts'
import { document, newWorkspace } from './resources.ts'
import { newRun, uploadConfiguration } from './runs.ts'

const PROTOCOL = '/api/agent/v1/agents'

/** The id of a new pool. */
export async function newPool({ owner, path }: TestOrganization, attributes: object = {}): Promise<string> {
  const body = document('agent-pools', { name: `pool-${unique()}`, ...attributes })
  return expectStatus(await owner.post(`${path}/agent-pools`, body), 201).body.data.id
}

/** A new token of a pool: its id and its secret. */
export async function newAgentToken({ owner }: TestOrganization, poolId: string) {
  const url = `/api/v2/agent-pools/${poolId}/authentication-tokens`
  const created = expectStatus(await owner.post(url, document('authentication-tokens', {})), 201)
  const { id, attributes } = created.body.data
  return { id: id as string, secret: attributes.token as string }
}

/** A workspace whose runs go to the pool's agents, with a configuration. */
export async function newAgentWorkspace({ owner, path }: TestOrganization, poolId: string) {
  const workspace = await newWorkspace(owner, path, { 'execution-mode': 'agent', 'agent-pool-id': poolId })
  await uploadConfiguration(owner, workspace.id)
  return workspace
}

/** A run that waits for an agent of the pool. */
export async function queueRun(organization: TestOrganization, poolId: string, attributes: object = {}) {
  const workspace = await newAgentWorkspace(organization, poolId)
  return newRun(organization.owner, workspace.id, attributes)
}

interface Server {
  url: string
  as: (secret: string) => Client
}

/** What an agent says, word by word. */
export class WireAgent {
  readonly client: Client
  readonly id: string
  readonly #server: Server

  private constructor(server: Server, client: Client, id: string) {
    this.#server = server
    this.client = client
    this.id = id
  }

  /** `secret` is a token of the agent's pool. */
  static async register(server: Server, secret: string, name = 'build-7'): Promise<WireAgent> {
    const client = server.as(secret)
    const registered = await sendJson(client, PROTOCOL, { name, version: '0.1.0' })
    return new WireAgent(server, client, expectStatus(registered, 201).body.id)
  }

  get path(): string {
    return `${PROTOCOL}/${this.id}`
  }

  /** The assignment; undefined when there was none for twenty seconds. */
  async claim() {
    const answer = await this.client.post(`${this.path}/claim`)
    return answer.status === 204 ? undefined : expectStatus(answer, 200).body
  }

  /** Says something of an execution. */
  say(executionId: string, what: string, body: object): Promise<Answer> {
    return sendJson(this.client, `${this.path}/executions/${executionId}/${what}`, body)
  }

  heartbeat(executionId: string): Promise<Answer> {
    return this.client.post(`${this.path}/executions/${executionId}/heartbeat`)
  }

  log(executionId: string, start: number, text: string): Promise<Answer> {
    const headers = { 'content-type': 'text/plain' }
    return this.client.send(
      'POST',
      `${this.path}/executions/${executionId}/log?start=${start}`,
      text,
      headers,
    )
  }

  fetch(executionId: string, file: string): Promise<Response> {
    return this.#send('GET', `executions/${executionId}/files/${file}`)
  }

  produce(executionId: string, file: string, content: string): Promise<Response> {
    return this.#send('PUT', `executions/${executionId}/files/${file}`, content)
  }

  saveState(executionId: string, raw: string, json = ''): Promise<Response> {
    const length = Buffer.byteLength(raw)
    return this.#send('PUT', `executions/${executionId}/state?raw=${length}`, raw + json)
  }

  #send(method: string, path: string, body?: string): Promise<Response> {
    return fetch(`${this.#server.url}${this.path}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.client.token}`,
        ...(body !== undefined && { 'content-type': 'application/octet-stream' }),
      },
      ...(body !== undefined && { body }),
    })
  }
}

export function sendJson(client: Client, path: string, body: unknown): Promise<Answer> {
  return client.send('POST', path, body, { 'content-type': 'application/json' })
}
