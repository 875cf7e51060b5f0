import { ApiError, type Client, type Document } from '../api/client.ts'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { providerPath } from '../publish/provider.ts'
import { openSession, type SessionOptions } from './session.ts'

export interface Problem {
  detail: string
  /** What can be done about it. */
  mend: string
}

export interface ProviderStatus {
  name: string
  version: string
  /** Undefined where the server does not say. */
  status: string | undefined
  installable: boolean
  files: { filename: string; uploaded: boolean; problems: Problem[] }[]
  problems: Problem[]
}

/** Which files of a version are there, and what is missing of it. */
export async function providerStatus(
  { name, version }: { name: string; version: string },
  options: SessionOptions,
  io: Io,
  observe: Observer,
): Promise<ProviderStatus> {
  const { client, organization } = await openSession(options, io, observe)
  const path = `${providerPath({ organization, name })}/versions/${encodeURIComponent(version)}`
  const release = await client.document(`${path}/release-files`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  })
  return { name, version, ...(release ? told(release) : await concluded(client, path)) }
}

/** As the server puts it. */
function told({ data, meta }: Document) {
  return {
    status: String(meta?.['status']),
    installable: meta?.['installable'] === true,
    problems: (meta?.['problems'] ?? []) as Problem[],
    files: [data].flat().map(({ attributes }) => ({
      filename: String(attributes['filename']),
      uploaded: attributes['uploaded'] === true,
      problems: (attributes['problems'] ?? []) as Problem[],
    })),
  }
}

/** From what every server with the public API knows. */
async function concluded(client: Client, path: string) {
  const { attributes } = await client.get(path)
  const file = (filename: string, uploaded: unknown) => ({
    filename,
    uploaded: uploaded === true,
    problems:
      uploaded === true
        ? []
        : [{ detail: `${filename} is not uploaded.`, mend: 'Publish the release again.' }],
  })
  const platforms = await client.list(`${path}/platforms`)
  const archives = platforms.map(({ attributes: platform }) =>
    file(String(platform['filename']), platform['provider-binary-uploaded']),
  )
  const lists = [
    file('SHA256SUMS', attributes['shasums-uploaded']),
    file('SHA256SUMS.sig', attributes['shasums-sig-uploaded']),
  ]
  const installable = lists.every(({ uploaded }) => uploaded) && archives.some(({ uploaded }) => uploaded)
  return { status: undefined, installable, problems: [], files: [...lists, ...archives] }
}
