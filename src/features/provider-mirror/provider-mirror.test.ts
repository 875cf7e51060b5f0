import { beforeAll, expect, test } from 'vitest'
import {
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  TestServer,
} from '../../../test/harness.ts'
import { makeKey, publish, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'

const HOST = 'registry.example.test'

const upstream = new TestServer('sqlite')
await upstream.start()
const acme = await upstream.organization('acme')

const settingsOf = ({ path }: TestOrganization) => `${path}/provider-mirror`
const allow = async (organization: TestOrganization, ...patterns: string[]) => {
  const body = document('provider-mirrors', { 'allowed-providers': patterns })
  return expectStatus(await organization.owner.patch(settingsOf(organization), body), 200).body.data
}
const fetched = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

onEachDialect(
  'a mirror of another Plinth',
  (server) => {
    let release: Awaited<ReturnType<typeof publish>>
    let fingerprint: string
    const name = `demo-${server.dialect}`
    const index = (organization: TestOrganization) => `/mirror/${organization.name}/${HOST}/acme/${name}`

    beforeAll(async () => {
      release = await publish(acme, name, '1.0.0')
      fingerprint = release.key.pair.publicKey.getFingerprint().toUpperCase()
    })

    test('speaks the network mirror protocol, and keeps what it has verified', async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      await allow(organization, `${HOST}/acme/*`)
      const versions = await owner.get(`${index(organization)}/index.json`)
      expect(versions.status).toBe(200)
      expect(versions.headers.get('content-type')).toMatch(/^application\/json/)
      expect(versions.body).toEqual({ versions: { '1.0.0': {} } })
      const upper = `/mirror/${organization.name}/${HOST.toUpperCase()}/ACME/${name.toUpperCase()}/1.0.0.json`
      const { archives } = expectStatus(await owner.get(upper), 200).body
      const bytes = release.archives.get('linux_amd64') as Buffer
      expect(archives).toEqual({
        linux_amd64: {
          url: expect.stringMatching(/\/storage\/mirrored-archive\/.*_linux_amd64\.zip$/),
          hashes: [`zh:${sha256(bytes)}`],
        },
        darwin_arm64: { url: expect.any(String), hashes: [expect.stringMatching(/^zh:/)] },
      })

      const head = await fetch(archives.linux_amd64.url, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
      expect(await fetched(archives.linux_amd64.url)).toEqual(bytes)
      const part = await fetch(archives.linux_amd64.url, { headers: { range: 'bytes=0-9' } })
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10])
      const again = expectStatus(await owner.get(upper), 200).body.archives
      expect(again.linux_amd64.hashes).toEqual([`zh:${sha256(bytes)}`, expect.stringMatching(/^h1:/)])

      const kept = expectStatus(await owner.get(`${path}/provider-mirror/packages`), 200).body
      expect(kept.data).toEqual([
        {
          id: expect.stringMatching(/^mpkg-/),
          type: 'mirrored-packages',
          attributes: {
            provider: `${HOST}/acme/${name}`,
            version: '1.0.0',
            os: 'linux',
            arch: 'amd64',
            filename: `terraform-provider-${name}_1.0.0_linux_amd64.zip`,
            shasum: sha256(bytes),
            'package-hash': again.linux_amd64.hashes[1],
            size: bytes.length,
            'fetched-at': expect.any(String),
          },
          relationships: {
            'mirrored-provider': {
              data: { id: expect.stringMatching(/^mprov-/), type: 'mirrored-providers' },
            },
          },
        },
      ])
      const providers = expectStatus(await owner.get(`${path}/provider-mirror/providers`), 200).body
      const moment = expect.any(String)
      expect(providers.data).toEqual([
        {
          id: kept.data[0].relationships['mirrored-provider'].data.id,
          type: 'mirrored-providers',
          attributes: {
            provider: `${HOST}/acme/${name}`,
            'key-fingerprints': [fingerprint],
            'kept-packages': 1,
            'kept-bytes': bytes.length,
            'listed-at': moment,
            'asked-at': moment,
            'last-error': null,
            'last-error-at': null,
          },
        },
      ])
    })

    test('has settings, which are put on record', async () => {
      const organization = await server.organization()
      const { owner, name: id } = organization
      const attributes = {
        'allowed-providers': [],
        'unlisted-in-runs': 'direct',
        'trusted-keys': [],
        'trust-on-first-use': true,
        url: `${server.url}/mirror/${id}/`,
      }
      const links = { self: settingsOf(organization) }
      const shown = { id, type: 'provider-mirrors', attributes, links }
      expect((await owner.get(settingsOf(organization))).body.data).toEqual(shown)
      const changed = await allow(organization, `${HOST}/*/*`, 'Registry.Terraform.io/hashicorp/random')
      expect(changed.attributes).toEqual({
        ...attributes,
        'allowed-providers': [`${HOST}/*/*`, 'registry.terraform.io/hashicorp/random'],
        'unlisted-in-runs': 'refused',
      })
      const spaced = fingerprint.replace(/(.{4})/g, '$1 ').toLowerCase()
      const others = { 'unlisted-in-runs': 'direct', 'trusted-keys': [spaced], 'trust-on-first-use': false }
      const body = document('provider-mirrors', others)
      expect((await owner.patch(settingsOf(organization), body)).body.data.attributes).toEqual({
        ...changed.attributes,
        ...others,
        'trusted-keys': [fingerprint],
      })
      const trail = await (await server.organizationToken(organization)).get(
        '/api/v2/organization/audit-trail',
      )
      expect(trail.text).toContain(`"allowed-providers":"${HOST}/*/* registry.terraform.io/hashicorp/random"`)
    })

    test('refuses settings that cannot be meant, all at once', async () => {
      const organization = await server.organization()
      const patch = (attributes: object) =>
        organization.owner.patch(settingsOf(organization), document('provider-mirrors', attributes))
      const own = new URL(server.url).host
      const patterns = [
        '*/*/*',
        `${HOST}/*/demo`,
        `${HOST}/acme`,
        'a b/c/d',
        `${own}/acme/demo`,
        `${HOST}/a_b/c`,
      ]
      const bad = await patch({ 'allowed-providers': patterns, 'trusted-keys': ['4AEE18F83AFDEB23'] })
      expect([bad.status, pointers(bad)]).toEqual([
        422,
        [
          ...patterns.map((_, index) => `/data/attributes/allowed-providers/${index}`),
          '/data/attributes/trusted-keys/0',
        ],
      ])
      expect(pointers(await patch({ 'unlisted-in-runs': 'maybe', 'trust-on-first-use': 1 }))).toEqual([
        '/data/attributes/trust-on-first-use',
        '/data/attributes/unlisted-in-runs',
      ])
    })

    test('has nothing for strangers, and settings for those who manage providers only', async () => {
      const organization = await server.organization()
      await allow(organization, `${HOST}/acme/*`)
      expectStatus(await organization.owner.get(`${index(organization)}/index.json`), 200)
      const stranger = await server.user()
      const member = await server.member(organization)
      const manager = await server.member(organization, ['manage-providers'])
      const settings = settingsOf(organization)
      const addresses = [
        `${index(organization)}/index.json`,
        `${index(organization)}/1.0.0.json`,
        settings,
        `${settings}/providers`,
        `${settings}/packages`,
      ]
      for (const address of addresses) {
        expect([address, (await server.nobody.get(address)).status]).toEqual([address, 401])
        expect([address, (await stranger.get(address)).status]).toEqual([address, 404])
        expect([address, (await member.get(address)).status]).toEqual([address, 200])
      }
      const body = document('provider-mirrors', { 'allowed-providers': [] })
      const { id } = (await member.get(`${settings}/providers`)).body.data[0]
      for (const client of [stranger, member, await server.organizationToken(organization)]) {
        expect((await client.patch(settings, body)).status).toBe(404)
        expect((await client.patch(settings, 'not JSON')).status).toBe(404)
        expect((await client.delete(`/api/v2/mirrored-providers/${id}`)).status).toBe(404)
      }
      expect((await manager.send('PATCH', settings, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
      expect((await manager.patch(settings, 'not JSON')).status).toBe(400)
      expect((await manager.patch(settings, body)).status).toBe(200)
      expect((await manager.delete(`/api/v2/mirrored-providers/${id}`)).status).toBe(204)
      expect((await manager.delete(`/api/v2/mirrored-providers/${id}`)).status).toBe(404)
    })

    test('says why it does not have something', async () => {
      const organization = await server.organization()
      const { owner } = organization
      await allow(organization, `${HOST}/acme/${name}`)
      const why = async (rest: string) => {
        const { status, body } = await owner.get(`/mirror/${organization.name}/${rest}`)
        return [status, body.errors[0].detail]
      }
      expect(await why(`${HOST}/acme/other/index.json`)).toEqual([
        404,
        `${HOST}/acme/other is not among the allowed providers of organization ${organization.name}. Whoever manages ` +
          `its registry can add it: PATCH ${settingsOf(organization)}`,
      ])
      expect(await why(`${HOST}/acme/${name}/9.9.9.json`)).toEqual([
        404,
        `The upstream of ${HOST}/acme/${name} lists no version 9.9.9.`,
      ])
      expect(await why(`${HOST}/acme/${name}/1.0.0`)).toEqual([404, 'There is no such document.'])
      expect(await why(`${HOST}/ac--me/${name}/index.json`)).toEqual([
        404,
        'This is no address of a provider.',
      ])
      await allow(organization, `${HOST}/*/*`)
      expect(await why(`${HOST}/acme/none/index.json`)).toEqual([
        404,
        expect.stringMatching(/^The upstream does not have this of .*\/none: .*\/versions answers 404\.$/),
      ])
      // What somebody made up leaves no trace.
      expect((await owner.get(`${settingsOf(organization)}/providers`)).body.data).toHaveLength(1)
    })

    test('is limited to what may be signed by', async () => {
      const organization = await server.organization()
      const { owner } = organization
      const settings = { 'allowed-providers': [`${HOST}/acme/*`], 'trust-on-first-use': false }
      expectStatus(await owner.patch(settingsOf(organization), document('provider-mirrors', settings)), 200)
      const refused = await owner.get(`${index(organization)}/1.0.0.json`)
      expect([refused.status, refused.body.errors[0].detail]).toEqual([
        502,
        expect.stringContaining(`it is signed by key ${fingerprint}, which nobody here trusts`),
      ])
      const other = (await makeKey()).pair.publicKey.getFingerprint().toUpperCase()
      const trust = document('provider-mirrors', { 'trusted-keys': [other, fingerprint] })
      expectStatus(await owner.patch(settingsOf(organization), trust), 200)
      expectStatus(await owner.get(`${index(organization)}/1.0.0.json`), 200)
    })
  },
  {
    PLINTH_MIRROR_UPSTREAMS: `${HOST}=${upstream.url}/api/registry/v1/providers/`,
    PLINTH_MIRROR_TOKENS: `${HOST}=${acme.owner.token}`,
  },
)
