import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import * as openpgp from 'openpgp'
import { ZipFile } from 'yazl'
import { type Answer, type Client, expectStatus, type TestOrganization, type TestServer } from './harness.ts'

/** A key pair as a provider's author has it. */
export interface SigningKey {
  armor: string
  privateArmor: string
  /** What the API calls key-id. */
  keyId: string
  /** A detached signature, binary as `gpg --detach-sign` makes it. */
  sign: (data: Buffer) => Promise<Buffer>
  /** The same, as `gpg --armor --detach-sign` makes it. */
  signArmored: (data: Buffer) => Promise<string>
  pair: { privateKey: openpgp.PrivateKey; publicKey: openpgp.PublicKey }
}

type KeyKind = 'rsa' | 'ecdsa' | 'eddsa'

const KINDS = {
  rsa: { type: 'rsa', rsaBits: 2048 },
  ecdsa: { type: 'ecc', curve: 'nistP256' },
  eddsa: { type: 'ecc', curve: 'ed25519Legacy' },
} as const

export async function makeKey(
  kind: KeyKind = 'eddsa',
  options: { keyExpirationTime?: number; date?: Date } = {},
) {
  const pair = await openpgp.generateKey({
    ...KINDS[kind],
    ...options,
    userIDs: [{ name: 'Provider Author', email: 'author@example.com' }],
    format: 'object',
  })
  const message = (data: Buffer) => openpgp.createMessage({ binary: new Uint8Array(data) })
  const signing = {
    signingKeys: pair.privateKey,
    detached: true,
    ...(options.date && { date: options.date }),
  } as const
  const key: SigningKey = {
    armor: pair.publicKey.armor(),
    privateArmor: pair.privateKey.armor(),
    keyId: pair.publicKey.getFingerprint().slice(-16).toUpperCase(),
    sign: async (data) =>
      Buffer.from(
        (await openpgp.sign({ ...signing, message: await message(data), format: 'binary' })) as Uint8Array,
      ),
    signArmored: async (data) => (await openpgp.sign({ ...signing, message: await message(data) })) as string,
    pair,
  }
  return key
}

/** A provider archive as goreleaser makes it: one executable in the root. */
export function makeArchive(name: string, version: string, content = `#!/bin/sh\necho ${name} ${version}\n`) {
  const zip = new ZipFile()
  const options = { mode: 0o100755, mtime: new Date('2024-01-01') }
  zip.addBuffer(Buffer.from(content), `terraform-provider-${name}_v${version}`, options)
  zip.end()
  return buffer(zip.outputStream as AsyncIterable<Buffer> & NodeJS.ReadableStream)
}

export function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Sends raw bytes to a signed link, as `curl -T` does: no token, no content type. */
export async function put(
  url: string,
  data: Buffer | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, { method: 'PUT', body: new Uint8Array(Buffer.from(data)), headers })
  const text = await response.text()
  const body = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, body }
}

export const versionBody = (attributes: object, type = 'registry-provider-versions') => ({
  data: { type, attributes },
})

export const platformBody = (attributes: object, type = 'registry-provider-platforms') => ({
  data: { type, attributes },
})

/** Makes a provider in an organization; returns its API path. */
export async function createProvider({ name: namespace, path, owner }: TestOrganization, name: string) {
  const answer = await owner.post(`${path}/registry-providers`, {
    data: { type: 'registry-providers', attributes: { name, namespace, 'registry-name': 'private' } },
  })
  expectStatus(answer, 201)
  return `${path}/registry-providers/private/${namespace}/${name}`
}

/** Registers a key for an organization. */
export async function addKey(
  { name: namespace, owner }: TestOrganization,
  key: SigningKey,
): Promise<SigningKey> {
  const answer = await owner.post('/api/registry/private/v2/gpg-keys', {
    data: { type: 'gpg-keys', attributes: { namespace, 'ascii-armor': key.armor } },
  })
  expectStatus(answer, 201)
  return key
}

/** Makes a version of the provider at `path`; returns its resource. */
export async function createVersion(owner: Client, path: string, version: string, key: SigningKey) {
  const answer = await owner.post(
    `${path}/versions`,
    versionBody({ version, 'key-id': key.keyId, protocols: ['5.0'] }),
  )
  return expectStatus(answer, 201).body.data
}

/** Makes a platform of a version; returns its resource. */
export async function createPlatform(
  owner: Client,
  path: string,
  version: string,
  platform: { os: string; arch: string; filename: string; shasum: string },
) {
  const answer = await owner.post(`${path}/versions/${version}/platforms`, platformBody(platform))
  return expectStatus(answer, 201).body.data
}

export interface PublishedRelease {
  path: string
  key: SigningKey
  /** By `os_arch`. */
  archives: Map<string, Buffer>
  shasums: Buffer
  signature: Buffer
}

/**
 * Publishes a whole release the way its author does: five kinds of call, and the uploads. `archive` is what every
 * platform gets, instead of one that does nothing.
 */
export async function publish(
  organization: TestOrganization,
  name: string,
  version: string,
  options: { key?: SigningKey; platforms?: string[]; path?: string; archive?: Buffer } = {},
): Promise<PublishedRelease> {
  const { owner } = organization
  const path = options.path ?? (await createProvider(organization, name))
  const key = options.key ?? (await addKey(organization, await makeKey()))
  const archives = new Map<string, Buffer>()
  for (const platform of options.platforms ?? ['linux_amd64', 'darwin_arm64']) {
    const empty = `#!/bin/sh\n# ${platform}\n`
    archives.set(platform, options.archive ?? (await makeArchive(name, version, empty)))
  }
  const filename = (platform: string) => `terraform-provider-${name}_${version}_${platform}.zip`
  const shasums = Buffer.from(
    [...archives].map(([platform, archive]) => `${sha256(archive)}  ${filename(platform)}\n`).join(''),
  )
  const signature = await key.sign(shasums)
  const { links } = await createVersion(owner, path, version, key)
  expectStatus(await put(links['shasums-upload'], shasums), 200)
  expectStatus(await put(links['shasums-sig-upload'], signature), 200)
  for (const [platform, archive] of archives) {
    const [os = '', arch = ''] = platform.split('_')
    const attributes = { os, arch, filename: filename(platform), shasum: sha256(archive) }
    const created = await createPlatform(owner, path, version, attributes)
    expectStatus(await put(created.links['provider-binary-upload'], archive), 200)
  }
  return { path, key, archives, shasums, signature }
}

/** What the audit trail says was done with the versions of an organization's providers, oldest first. */
export async function auditedOfVersions(
  server: TestServer,
  organization: TestOrganization,
): Promise<string[]> {
  const token = await server.organizationToken(organization)
  const { body } = await token.get('/api/v2/organization/audit-trail')
  return body.data
    .map((event: { resource: { type: string; action: string } }) => event.resource)
    .filter(({ type }: { type: string }) => type === 'registry_provider_version')
    .map(({ action }: { action: string }) => action)
    .reverse()
}
