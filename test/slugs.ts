import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { type Client, expectStatus } from './harness.ts'
import { document } from './resources.ts'

/** What an archive holds: texts of files by their names, or entries as they are. */
export type Entries = Record<string, string | Buffer> | Partial<Header>[]

/** The archive of a configuration, as the CLI makes it. */
export async function makeSlug(entries: Entries = { 'main.tf': '' }): Promise<Buffer> {
  const tar = pack()
  const list = Array.isArray(entries) ? entries : Object.entries(entries)
  for (const entry of list) {
    if (Array.isArray(entry)) tar.entry({ name: entry[0] }, entry[1])
    else tar.entry(entry as Header, '')
  }
  tar.finalize()
  return gzipSync(await buffer(tar as unknown as NodeJS.ReadableStream))
}

/** The resource object of a new configuration version, without its archive. */
export async function newConfigurationVersion(client: Client, workspaceId: string, attributes: object = {}) {
  const body = document('configuration-versions', { 'auto-queue-runs': false, ...attributes })
  const created = await client.post(`/api/v2/workspaces/${workspaceId}/configuration-versions`, body)
  return expectStatus(created, 201).body.data
}
