import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { type Client, expectStatus } from './harness.ts'
import { document } from './resources.ts'

/** Files of a configuration, by their paths. */
export type Files = Record<string, string>

/** The archive that clients upload: a gzipped tar. */
export async function slug(files: Files): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return gzipSync(Buffer.concat(chunks))
}

/** A configuration that needs nothing to be downloaded, and changes something. */
export const SMALL: Files = { 'main.tf': 'resource "terraform_data" "a" {\n  input = "one"\n}\n' }

/** Uploads a configuration to a workspace; returns the id of its version. Runs are not queued by it. */
export async function uploadConfiguration(
  client: Client,
  workspaceId: string,
  files: Files = SMALL,
  attributes: object = {},
): Promise<string> {
  const body = document('configuration-versions', { 'auto-queue-runs': false, ...attributes })
  const created = await client.post(`/api/v2/workspaces/${workspaceId}/configuration-versions`, body)
  const { data } = expectStatus(created, 201).body
  const bytes = new Uint8Array(await slug(files))
  const uploaded = await fetch(data.attributes['upload-url'], { method: 'PUT', body: bytes })
  if (uploaded.status !== 200) throw new Error(`${uploaded.status}: ${await uploaded.text()}`)
  return data.id
}

/** A request for a run. */
export function runDocument(workspaceId: string, attributes: object = {}, configurationVersionId?: string) {
  return document('runs', attributes, {
    workspace: { data: { type: 'workspaces', id: workspaceId } },
    ...(configurationVersionId && {
      'configuration-version': { data: { type: 'configuration-versions', id: configurationVersionId } },
    }),
  })
}

/** The resource object of a new run of the workspace's last configuration. */
export async function newRun(client: Client, workspaceId: string, attributes: object = {}) {
  const created = await client.post('/api/v2/runs', runDocument(workspaceId, attributes))
  return expectStatus(created, 201).body.data
}

/**
 * Waits until `look` finds something, and returns it. What tests that run beside one another use in the place of
 * `expect.poll`, which must know its test.
 */
export async function until<T>(
  look: () => T | undefined | Promise<T | undefined>,
  describe: () => unknown = () => look,
  timeout = 25_000,
): Promise<T> {
  for (const end = performance.now() + timeout; performance.now() < end; await sleep(50)) {
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error(`waited ${timeout} ms in vain: ${describe()}`)
}

/** Waits until the run has one of these states; returns it as it is then. */
export async function untilRun(client: Client, id: string, statuses: readonly string[], timeout?: number) {
  let last = ''
  return until(
    async () => {
      const run = expectStatus(await client.get(`/api/v2/runs/${id}`), 200).body.data
      last = run.attributes.status
      return statuses.includes(last) ? run : undefined
    },
    () => `run ${id} is ${last}, not ${statuses.join(' or ')}`,
    timeout,
  )
}

/** The log of a plan or an apply, as far as it is written, without its frame. */
export async function readLog(client: Client, type: 'plans' | 'applies', id: string): Promise<string> {
  const { attributes } = expectStatus(await client.get(`/api/v2/${type}/${id}`), 200).body.data
  const answer = await fetch(attributes['log-read-url'])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: logs are framed by them.
  return (await answer.text()).replace(/[\u0002\u0003]/g, '')
}
