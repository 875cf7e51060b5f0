import { expect, test } from 'vitest'
import { newAgentToken, newPool, queueRun, WireAgent } from '../../../test/agents.ts'
import { CliDirectory, requireProvider, THIS_PLATFORM } from '../../../test/cli/cli.ts'
import { expectStatus, onEachDialect, type TestOrganization, type TestServer } from '../../../test/harness.ts'
import { makeKey, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { testWithTerraform } from '../../../test/terraform.ts'
import { UpstreamRegistry } from '../../../test/upstream.ts'

const HOST = 'registry.example.test'

const registry = new UpstreamRegistry()
await registry.start()
const key = await makeKey()
const platforms = [THIS_PLATFORM, 'windows_amd64']
const { archives, shasums } = await registry.release('demo', '1.0.0', key, { platforms })

const patch = async ({ owner, path }: TestOrganization, attributes: object) =>
  expectStatus(await owner.patch(`${path}/provider-mirror`, document('provider-mirrors', attributes)), 200)

/** A run that an agent has begun, and how it is told to install providers. */
async function begin(server: TestServer, organization: TestOrganization) {
  const poolId = await newPool(organization)
  const agent = await WireAgent.register(server, (await newAgentToken(organization, poolId)).secret)
  await queueRun(organization, poolId)
  const { executionId, mirror } = await agent.claim()
  const end = async () =>
    expectStatus(await agent.say(executionId, 'finish', { status: 'errored', error: 'It broke.' }), 204)
  return { mirror, end }
}

const get = (url: string) => fetch(url, { redirect: 'manual' })

onEachDialect(
  'runs with a mirror',
  (server) => {
    test('are told of none until their organization has a list', async () => {
      const organization = await server.organization()
      expect((await begin(server, organization)).mirror).toBeUndefined()
      await patch(organization, { 'allowed-providers': [] })
      expect((await begin(server, organization)).mirror).toEqual({ hosts: [], allowed: [], others: false })
    })

    test('install what is listed by links that end with them', async () => {
      const organization = await server.organization()
      await patch(organization, { 'allowed-providers': [`${HOST}/acme/demo`] })
      const { mirror, end } = await begin(server, organization)
      expect(mirror).toEqual({
        hosts: [{ host: HOST, providers: expect.stringMatching(new RegExp(`/storage/.*/${HOST}/$`)) }],
        allowed: [`${HOST}/acme/demo`],
        others: false,
      })
      const [{ providers }] = mirror.hosts
      const versions = await get(`${providers}acme/demo/versions`)
      expect(versions.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await versions.json()).toEqual({
        versions: [
          {
            version: '1.0.0',
            protocols: ['5.0'],
            platforms: platforms.map((platform) => {
              const [os, arch] = platform.split('_')
              return { os, arch }
            }),
          },
        ],
        warnings: null,
      })
      const [os, arch] = THIS_PLATFORM.split('_')
      const offer = async () =>
        (await (await get(`${providers}acme/demo/1.0.0/download/${os}/${arch}`)).json()) as Record<
          string,
          string
        >
      const told = await offer()
      expect(told).toEqual({
        protocols: ['5.0'],
        os,
        arch,
        filename: `terraform-provider-demo_1.0.0_${THIS_PLATFORM}.zip`,
        download_url: expect.stringMatching(/\/storage\/mirrored-archive\//),
        shasums_url: expect.stringMatching(/_SHA256SUMS$/),
        shasums_signature_url: expect.stringMatching(/_SHA256SUMS\.sig$/),
        shasum: sha256(archives.get(THIS_PLATFORM) as Buffer),
        signing_keys: {
          gpg_public_keys: [
            { key_id: key.keyId, ascii_armor: key.armor, trust_signature: '', source: '', source_url: null },
          ],
        },
      })
      const file = async (name: string) => Buffer.from(await (await get(told[name] as string)).arrayBuffer())
      expect(await file('shasums_url')).toEqual(shasums)
      expect((await file('shasums_signature_url')).length).toBeGreaterThan(50)
      expect(await file('download_url')).toEqual(archives.get(THIS_PLATFORM))
      // Once every platform is kept, its hashes are told as well.
      expect((await offer())['packages']).toBeUndefined()
      const other = await get(`${providers}acme/demo/1.0.0/download/windows/amd64`)
      await get(((await other.json()) as { download_url: string }).download_url)
      expect(Object.keys((await offer())['packages'] as never)).toEqual(expect.arrayContaining(platforms))

      for (const missing of [
        'acme/demo/1.0.0/download/plan9/mips',
        'acme/demo/2.0.0/download/linux/amd64',
        'acme/other/versions',
      ])
        expect([missing, (await get(providers + missing)).status]).toEqual([missing, 404])
      const forged = providers.replace(/\/(\d+)\/([^/]+)\//, '/$1/x$2/')
      expect((await get(`${forged}acme/demo/versions`)).status).toBe(404)
      const idOf = async ({ owner, path }: TestOrganization) =>
        (await owner.get(path)).body.data.attributes['external-id']
      const stranger = await idOf(await server.organization())
      const elsewhere = providers.replace(await idOf(organization), stranger)
      expect(elsewhere).toContain(`/${stranger}/`)
      expect((await get(`${elsewhere}acme/demo/versions`)).status).toBe(404)
      await end()
      expect((await get(`${providers}acme/demo/versions`)).status).toBe(404)
      expect(server.logLines.join('')).not.toContain(new URL(providers).pathname)
    })

    test('are sent to the upstream for what is not listed, where the organization allows it', async () => {
      const organization = await server.organization()
      await patch(organization, { 'allowed-providers': [`${HOST}/acme/demo`], 'unlisted-in-runs': 'direct' })
      const { mirror } = await begin(server, organization)
      expect(mirror.others).toBe(true)
      const [{ providers }] = mirror.hosts
      for (const rest of ['acme/other/versions', 'acme/other/1.0.0/download/linux/amd64']) {
        const { status, headers } = await get(providers + rest)
        expect([status, headers.get('location')]).toEqual([307, registry.url + rest])
      }
      const unlisted = providers.replace(`/${HOST}/`, '/registry.terraform.io/')
      expect((await get(`${unlisted}hashicorp/random/versions`)).status).toBe(404)
    })

    testWithTerraform(
      'verify the upstream’s signature themselves, and have complete lock files',
      async (binary) => {
        const organization = await server.organization()
        await patch(organization, { 'allowed-providers': [`${HOST}/*/*`] })
        const { mirror } = await begin(server, organization)
        const cli = new CliDirectory(binary, HOST, undefined)
        const [{ providers }] = mirror.hosts
        cli.write(
          'cli.tfrc',
          `host "${HOST}" {\n  services = {\n    "providers.v1" = "${providers}"\n  }\n}\n`,
        )
        cli.write('main.tf', requireProvider(`${HOST}/acme/demo`, '1.0.0'))
        const { output } = await cli.run('init')
        expect(output).toContain(`Installed ${HOST}/acme/demo v1.0.0 (self-signed, key ID ${key.keyId})`)
        const lock = cli.read('.terraform.lock.hcl')
        for (const bytes of archives.values()) expect(lock).toContain(`"zh:${sha256(bytes)}"`)
        cli.remove()
      },
    )
  },
  { PLINTH_MIRROR_UPSTREAMS: `${HOST}=${registry.url}` },
)
