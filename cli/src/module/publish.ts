import { gunzipSync } from 'node:zlib'
import { ApiError, type Client, type Resource } from '../api/client.ts'
import { Transient, withRetries } from '../api/retries.ts'
import { upload } from '../api/upload.ts'
import { CliError } from '../errors.ts'
import type { Observer } from '../observer.ts'

/** One version of a module, for one system. */
export interface ModuleAddress {
  organization: string
  name: string
  /** What the API calls its provider. */
  system: string
  version: string
}

export interface ModulePublication {
  status: 'published' | 'already-published'
  /** As configurations name it: `host/namespace/name/system`. */
  source: string
  created: { module: boolean; version: boolean }
}

interface Place {
  collection: string
  module: string
  version: string
}

/** Publishes the archive of a module, or finds that it was. Throws `CliError`. */
export async function publishModule(
  client: Client,
  address: ModuleAddress,
  bytes: Buffer,
  commit: string | undefined,
  observe: Observer,
): Promise<ModulePublication> {
  const place = placeOf(address)
  const created = {
    module: await ensureModule(client, address, place, observe),
    version: false,
  }
  const existing = await client.find(place.version)
  const { organization, name, system, version } = address
  const source = `${client.server.host}/${organization}/${name}/${system}`
  if (existing?.attributes['status'] === 'ok') {
    await requireSame(client, address, bytes)
    return { status: 'already-published', source, created }
  }
  if (!existing) observe({ type: 'step', text: `creating version ${version}` })
  const resource = existing ?? (await createVersion(client, place, address, commit))
  created.version = !existing
  await send(client, place, resource, `${name}_${system}_${version}.tar.gz`, bytes, observe)
  observe({ type: 'step', text: 'verifying what clients will get' })
  await requireSame(client, address, bytes)
  return { status: 'published', source, created }
}

function placeOf({ organization, name, system, version }: ModuleAddress): Place {
  const collection = `/api/v2/organizations/${encodeURIComponent(organization)}/registry-modules`
  const module = `${collection}/private/${[organization, name, system].map(encodeURIComponent).join('/')}`
  return { collection, module, version: `${module}/version?module_version=${encodeURIComponent(version)}` }
}

async function ensureModule(
  client: Client,
  { name, system }: ModuleAddress,
  { collection, module }: Place,
  observe: Observer,
): Promise<boolean> {
  if (await client.find(module)) return false
  observe({ type: 'step', text: `creating module ${name} for ${system}` })
  try {
    await client.post(collection, 'registry-modules', { name, provider: system, 'registry-name': 'private' })
    return true
  } catch (error) {
    // Somebody else may have made it just now, or an attempt whose answer was lost.
    if (!(error instanceof ApiError && error.status === 422 && (await client.find(module)))) throw error
    return false
  }
}

async function createVersion(
  client: Client,
  place: Place,
  { version }: ModuleAddress,
  commit: string | undefined,
): Promise<Resource> {
  try {
    return await client.post(`${place.module}/versions`, 'registry-module-versions', {
      version,
      ...(commit && { 'commit-sha': commit }),
    })
  } catch (error) {
    const made = error instanceof ApiError && error.status === 422 && (await client.find(place.version))
    if (!made) throw error
    return made
  }
}

async function send(
  client: Client,
  place: Place,
  { links }: Resource,
  filename: string,
  bytes: Buffer,
  observe: Observer,
): Promise<void> {
  const link = links?.['upload']
  if (typeof link !== 'string') {
    throw new CliError('access', `the server gives no link to upload ${filename} to`, {
      advice:
        'The token may not manage modules, or an earlier upload failed: delete the version and try again.',
    })
  }
  const size = bytes.length
  await upload(new URL(link, client.server).href, { filename, size, content: { bytes } }, client.retries, {
    onBytes: (sent) => observe({ type: 'upload', file: filename, size, sent }),
    isThere: async () => (await client.get(place.version)).attributes['status'] === 'ok',
  })
  observe({ type: 'upload', file: filename, size, sent: size, isDone: true })
}

/** Compares what clients get with what is published here: packed files, because compressors differ. */
async function requireSame(
  client: Client,
  { organization, name, system, version }: ModuleAddress,
  bytes: Buffer,
): Promise<void> {
  const { url, body } = await client.plain('/.well-known/terraform.json')
  const base = new URL(String((body as Record<string, unknown>)['modules.v1']).replace(/\/*$/, '/'), url)
  const download = new URL(`${organization}/${name}/${system}/${version}/download`, base)
  // Some servers take a moment before they show what was uploaded.
  const archive = await withRetries(client.retries, () =>
    client
      .answer(download, async ({ headers }) => headers.get('x-terraform-get') ?? '')
      .catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error
        throw new Transient(`${name} ${version} is complete, but the registry does not show it`)
      }),
  )
  const published = await client.bytes(new URL(archive, download))
  if (unpacked(published).equals(gunzipSync(bytes))) return
  throw new CliError('conflict', `${name} ${version} for ${system} is in the registry with other contents`, {
    advice: 'People may use it: release the change as a new version.',
  })
}

function unpacked(archive: Buffer): Buffer {
  try {
    return gunzipSync(archive)
  } catch {
    // Whatever it is, it is something else.
    return archive
  }
}
