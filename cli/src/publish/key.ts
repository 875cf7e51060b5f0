import { isIssuedBy, readIssuers, verifySignature } from '../../../src/lib/openpgp.ts'
import type { Client, Resource } from '../api/client.ts'
import { CliError } from '../errors.ts'
import type { Observer } from '../observer.ts'
import type { Release } from '../release/release.ts'

const KEYS = '/api/registry/private/v2/gpg-keys'

/**
 * The registered key that the release is signed with; registers it where the registry does not know it and this
 * machine does.
 */
export async function ensureKey(
  client: Client,
  release: Release,
  organization: string,
  observe: Observer,
): Promise<{ keyId: string; isNew: boolean }> {
  const namespace = encodeURIComponent(organization)
  const registered = await client.list(`${KEYS}?filter[namespace]=${namespace}`)
  const known = await findRegistered(registered, release)
  if (known) return { keyId: known, isNew: false }
  if (!release.key) throw unknownKey(registered, organization, release)
  observe({ type: 'step', text: `registering key ${release.key.keyId}` })
  const { attributes } = await client.post(KEYS, 'gpg-keys', {
    namespace: organization,
    'ascii-armor': release.key.armor,
  })
  return { keyId: String(attributes['key-id']), isNew: true }
}

async function findRegistered(
  registered: readonly Resource[],
  release: Release,
): Promise<string | undefined> {
  const { signature, key, keyId: asked } = release
  // What is asked for may be the part of a key that signs.
  const isAsked = asked && (await readIssuers(signature.bytes)).some((id) => asked.endsWith(id))
  for (const { attributes } of registered) {
    const keyId = String(attributes['key-id']).toUpperCase()
    const armor = String(attributes['ascii-armor'])
    if (key) {
      if (key.keyId === keyId) return keyId
    } else if (await isIssuedBy(signature.bytes, armor).catch(() => false)) {
      if (asked && !isAsked && !asked.endsWith(keyId)) continue
      await requireGood(release, armor)
      return keyId
    }
  }
  return undefined
}

async function requireGood({ shasums, signature }: Release, armor: string): Promise<void> {
  await verifySignature(shasums.bytes, signature.bytes, armor).catch((error: Error) => {
    throw new CliError('release', `the signature does not fit the list of digests: ${error.message}`, {
      advice: `Sign it again: gpg --detach-sign ${shasums.filename}`,
    })
  })
}

function unknownKey(registered: readonly Resource[], organization: string, { keyId }: Release): CliError {
  const ids = registered.map(({ attributes }) => attributes['key-id']).join(', ')
  return new CliError('release', `${organization} has no key that made the signature`, {
    details: [
      ...(keyId ? [`--key names ${keyId}`] : []),
      ids ? `registered: ${ids}` : 'no key is registered',
      'gpg on this machine does not have it either',
    ],
    advice: 'Name the public key, which is then registered: --key public.asc',
  })
}
