import { ApiError, type Client, type Resource } from '../api/client.ts'
import { CliError } from '../errors.ts'
import type { Observer } from '../observer.ts'
import type { Release } from '../release/release.ts'

/** A version as the registry has it now. */
export interface Version {
  path: string
  resource: Resource
  isNew: boolean
}

/** The version of the release: made now, or found to be of the same contents. Throws `CliError` otherwise. */
export async function ensureVersion(
  client: Client,
  release: Release,
  provider: string,
  keyId: string,
  observe: Observer,
): Promise<Version> {
  const path = `${provider}/versions/${encodeURIComponent(release.version)}`
  const existing = await client.find(path)
  if (existing) return resume(client, release, { path, resource: existing, isNew: false }, keyId, observe)
  observe({ type: 'step', text: `creating version ${release.version}` })
  try {
    const resource = await client.post(`${provider}/versions`, 'registry-provider-versions', {
      version: release.version,
      'key-id': keyId,
      protocols: release.protocols,
    })
    return { path, resource, isNew: true }
  } catch (error) {
    // Somebody else may have made it just now, or an attempt whose answer was lost.
    const made = error instanceof ApiError && error.status === 422 && (await client.find(path))
    if (!made) throw error
    return resume(client, release, { path, resource: made, isNew: false }, keyId, observe)
  }
}

async function resume(
  client: Client,
  release: Release,
  version: Version,
  keyId: string,
  observe: Observer,
): Promise<Version> {
  const { attributes, links } = version.resource
  if (attributes['status'] === 'revoked') {
    throw new CliError(
      'conflict',
      `${release.name} ${release.version} is revoked, so that nobody can install it`,
      {
        advice: `Release a new version, or take it back: plinth provider restore ${release.name} ${release.version}`,
      },
    )
  }
  const differences: string[] = []
  if (String(attributes['key-id']).toUpperCase() !== keyId) {
    differences.push(`it is signed by key ${attributes['key-id']}, this release by ${keyId}`)
  }
  const protocols = [attributes['protocols']].flat().toSorted().join(', ')
  if (protocols !== release.protocols.toSorted().join(', ')) {
    differences.push(`it speaks protocols ${protocols}, this release ${release.protocols.join(', ')}`)
  }
  if (attributes['shasums-uploaded']) {
    differences.push(...(await differencesOfLists(client, release, String(links?.['shasums-download']))))
  }
  if (differences.length > 0) throw conflict(release, differences)
  observe({ type: 'step', text: `version ${release.version} is there, with the same contents` })
  return version
}

async function differencesOfLists(client: Client, { shasums }: Release, link: string): Promise<string[]> {
  const uploaded = await client.bytes(link)
  if (uploaded.equals(shasums.bytes)) return []
  const lines = (bytes: Buffer) => new Set(bytes.toString('utf8').split(/\r?\n/).filter(Boolean))
  const [theirs, ours] = [lines(uploaded), lines(shasums.bytes)]
  const changed = [...ours].filter((line) => !theirs.has(line))
  const gone = [...theirs].filter((line) => !ours.has(line))
  return [
    ...changed.map((line) => `only this release has ${line}`),
    ...gone.map((line) => `only the published one has ${line}`),
    ...(changed.length + gone.length === 0 ? ['the lists of digests differ in spaces or order'] : []),
  ]
}

export function conflict({ name, version }: Release, details: string[]): CliError {
  return new CliError('conflict', `${name} ${version} is in the registry with other contents`, {
    details,
    advice:
      'People may have locked its digests: release the change as a new version. ' +
      'If nobody could install it yet, delete the version and publish again.',
  })
}
