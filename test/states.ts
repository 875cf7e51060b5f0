import { createHash, randomUUID } from 'node:crypto'
import { type Answer, type Client, expectStatus } from './harness.ts'
import { document } from './resources.ts'

/** What goes into a raw state. */
export interface StateParts {
  serial?: number
  lineage?: string
  outputs?: object
  resources?: object[]
}

/** A raw state, as the engine writes it. */
export function rawState({ serial = 1, lineage = LINEAGE, outputs = {}, resources = [] }: StateParts = {}) {
  const state = {
    version: 4,
    terraform_version: '1.9.8',
    serial,
    lineage,
    outputs,
    resources,
    check_results: null,
  }
  return `${JSON.stringify(state, null, 2)}\n`
}

export const LINEAGE = randomUUID()

/** A resource of a raw state, with one object for each index; one without an index if there are none. */
export function stateResource(name: string, indexes: (string | number)[] = [], more: object = {}) {
  const instance = (index?: string | number) => ({
    ...(index !== undefined && { index_key: index }),
    schema_version: 0,
    attributes: { id: `${name}-${index}` },
  })
  return {
    mode: 'managed',
    type: 'terraform_data',
    name,
    provider: 'provider["terraform.io/builtin/terraform"]',
    instances: indexes.length > 0 ? indexes.map(instance) : [instance()],
    ...more,
  }
}

export const md5 = (text: string | Buffer) => createHash('md5').update(text).digest('hex')
export const base64 = (text: string) => Buffer.from(text).toString('base64')

/** What is announced of a raw state. */
export function announcement(raw: string) {
  const { serial, lineage } = JSON.parse(raw)
  return { serial, lineage, md5: md5(raw) }
}

export function lock(client: Client, workspaceId: string): Promise<Answer> {
  return client.post(`/api/v2/workspaces/${workspaceId}/actions/lock`, { reason: 'state' })
}

export function unlock(client: Client, workspaceId: string): Promise<Answer> {
  return client.post(`/api/v2/workspaces/${workspaceId}/actions/unlock`)
}

/** Sends a state as a part of the request. */
export function postState(client: Client, workspaceId: string, raw: string, more: object = {}, run?: string) {
  const attributes = { ...announcement(raw), state: base64(raw), ...more }
  return client.post(
    `/api/v2/workspaces/${workspaceId}/state-versions`,
    document('state-versions', attributes, run ? { run: { data: { type: 'runs', id: run } } } : undefined),
  )
}

/** Announces a state that will be uploaded. */
export function announceState(client: Client, workspaceId: string, raw: string, more: object = {}) {
  const path = `/api/v2/workspaces/${workspaceId}/state-versions`
  return client.post(path, document('state-versions', { ...announcement(raw), ...more }))
}

export function put(url: string, body: string | Buffer): Promise<Response> {
  return fetch(url, { method: 'PUT', body: new Uint8Array(Buffer.from(body)) })
}

/** Saves a state of an unlocked workspace; the resource object of its version. */
export async function saveState(client: Client, workspaceId: string, parts: StateParts = {}) {
  expectStatus(await lock(client, workspaceId), 200)
  const saved = expectStatus(await postState(client, workspaceId, rawState(parts)), 201)
  expectStatus(await unlock(client, workspaceId), 200)
  return saved.body.data
}
