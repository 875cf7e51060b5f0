import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  publish,
  put,
  sha256,
} from '../../../test/registry.ts'

const PROVIDERS = '/api/registry/v1/providers'

onEachDialect('the provider registry protocol', (server) => {
  test('lists versions and describes packages', async () => {
    const organization = await server.organization()
    const { key, archives, shasums, signature } = await publish(organization, 'demo', '1.0.0')
    const { owner, name } = organization
    const versions = await owner.get(`${PROVIDERS}/${name}/demo/versions`)
    expect(versions.status).toBe(200)
    expect(versions.headers.get('content-type')).toMatch(/^application\/json/)
    expect(versions.body).toEqual({
      versions: [
        {
          version: '1.0.0',
          protocols: ['5.0'],
          platforms: [
            { os: 'linux', arch: 'amd64' },
            { os: 'darwin', arch: 'arm64' },
          ],
        },
      ],
      warnings: null,
    })
    const upper = await owner.get(`${PROVIDERS}/${name.toUpperCase()}/DEMO/versions`)
    expect(upper.body).toEqual(versions.body)

    const archive = archives.get('linux_amd64') as Buffer
    const { body } = await owner.get(`${PROVIDERS}/${name}/demo/1.0.0/download/linux/amd64`)
    expect(body).toEqual({
      protocols: ['5.0'],
      os: 'linux',
      arch: 'amd64',
      filename: 'terraform-provider-demo_1.0.0_linux_amd64.zip',
      download_url: expect.stringMatching(/^http.*\/storage\/provider-binary\/.*\.zip$/),
      shasums_url: expect.stringMatching(/_SHA256SUMS$/),
      shasums_signature_url: expect.stringMatching(/_SHA256SUMS\.sig$/),
      shasum: sha256(archive),
      signing_keys: {
        gpg_public_keys: [
          { key_id: key.keyId, ascii_armor: key.armor, trust_signature: '', source: '', source_url: null },
        ],
      },
      packages: Object.fromEntries(
        [...archives].map(([platform, bytes]) => [
          platform,
          {
            hashes: [`zh:${sha256(bytes)}`, expect.stringMatching(/^h1:.{43}=$/)],
            package_size: bytes.length,
          },
        ]),
      ),
    })
    const fetched = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(await fetched(body.download_url)).toEqual(archive)
    expect(await fetched(body.shasums_url)).toEqual(shasums)
    expect(await fetched(body.shasums_signature_url)).toEqual(signature)
  })

  test('warns of versions that an expired key signed', async () => {
    const organization = await server.organization()
    const { owner, name } = organization
    const { path } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    const warnings = async () => (await owner.get(`${PROVIDERS}/${name}/demo/versions`)).body.warnings
    expect(await warnings()).toBeNull()
    const options = { date: new Date('2020-01-01'), keyExpirationTime: 60 }
    const key = await addKey(organization, await makeKey('eddsa', options))
    const text = (versions: string) => `${versions}: signed by key ${key.keyId}, which expired on 2020-01-01.`
    const release = (version: string) =>
      publish(organization, 'demo', version, { path, key, platforms: ['linux_amd64', 'linux_arm64'] })
    for (const version of ['1.0.1', '1.0.2']) await release(version)
    expect(await warnings()).toEqual([text('1.0.1, 1.0.2')])
    for (const version of ['1.0.3', '1.0.4', '1.0.5', '1.0.6', '1.0.7']) await release(version)
    expect(await warnings()).toEqual([text('1.0.3, 1.0.4, 1.0.5, 1.0.6, 1.0.7 and 2 earlier')])
  })

  test('shows only what is complete', async () => {
    const organization = await server.organization()
    const { owner, name } = organization
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    const listed = async () => (await owner.get(`${PROVIDERS}/${name}/demo/versions`)).body.versions
    const packageStatus = async (arch: string) =>
      (await owner.get(`${PROVIDERS}/${name}/demo/1.0.0/download/linux/${arch}`)).status
    const { links } = await createVersion(owner, path, '1.0.0', key)
    const files = {
      amd64: await makeArchive('demo', '1.0.0', 'one'),
      arm64: await makeArchive('demo', '1.0.0', 'two'),
    }
    const uploads: Record<string, string> = {}
    for (const [arch, bytes] of Object.entries(files)) {
      const platform = { os: 'linux', arch, filename: `${arch}.zip`, shasum: sha256(bytes) }
      uploads[arch] = (await createPlatform(owner, path, '1.0.0', platform)).links['provider-binary-upload']
    }
    const shasums = Buffer.from(
      Object.entries(files)
        .map(([arch, bytes]) => `${sha256(bytes)}  ${arch}.zip\n`)
        .join(''),
    )
    expect(await listed()).toEqual([])
    expectStatus(await put(links['shasums-upload'], shasums), 200)
    expectStatus(await put(uploads['amd64'] as string, files.amd64), 200)
    expect(await listed()).toEqual([])
    expect(await packageStatus('amd64')).toBe(404)
    expectStatus(await put(links['shasums-sig-upload'], await key.sign(shasums)), 200)
    expect(await listed()).toMatchObject([{ version: '1.0.0', platforms: [{ os: 'linux', arch: 'amd64' }] }])
    expect(await packageStatus('amd64')).toBe(200)
    expect(await packageStatus('arm64')).toBe(404)
    expectStatus(await put(uploads['arm64'] as string, files.arm64), 200)
    expect((await listed())[0].platforms).toHaveLength(2)
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    expect(await listed()).toEqual([])
  })

  test('is for members only', async () => {
    const organization = await server.organization()
    await publish(organization, 'demo', '1.0.0')
    const { owner, name } = organization
    const stranger = await server.user()
    const addresses = [
      `${PROVIDERS}/${name}/demo/versions`,
      `${PROVIDERS}/${name}/demo/1.0.0/download/linux/amd64`,
    ]
    for (const address of addresses) {
      expect((await server.nobody.get(address)).status).toBe(401)
      expect((await server.as('wrong').get(address)).status).toBe(401)
      expect((await stranger.get(address)).status).toBe(404)
      expect((await owner.get(address)).status).toBe(200)
    }
    for (const missing of [
      'none/versions',
      'demo/9.9.9/download/linux/amd64',
      'demo/1.0.0/download/plan9/mips',
    ]) {
      expect((await owner.get(`${PROVIDERS}/${name}/${missing}`)).status).toBe(404)
    }
    const member = await server.member(organization)
    expect((await member.get(addresses[0] as string)).status).toBe(200)
  })
})
