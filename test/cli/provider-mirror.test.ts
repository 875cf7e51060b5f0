import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { afterAll, expect, onTestFinished } from 'vitest'
import { expectStatus, onEachDialect, type TestOrganization, TestServer } from '../harness.ts'
import { FIXTURE, packProvider } from '../provider/pack.ts'
import { publish, sha256 } from '../registry.ts'
import { document, newWorkspace } from '../resources.ts'
import { newRun, readLog, untilRun, uploadConfiguration } from '../runs.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory, requireProvider, THIS_PLATFORM } from './cli.ts'
import { HTTPS } from './cloud.ts'

tls.setDefaultCACertificates([
  ...tls.getCACertificates('default'),
  readFileSync(testCertificates().ca, 'utf8'),
])

/** Another Plinth, whose provider `acme/fixture` can be installed with a token that only the mirror has. */
const upstream = new TestServer('sqlite', HTTPS)
await upstream.start()
afterAll(() => upstream.stop())
const acme = await upstream.organization('acme')
const release = await publish(acme, FIXTURE, '1.0.0', {
  platforms: [THIS_PLATFORM, 'windows_amd64'],
  archive: await packProvider('1.0.0'),
})
const { host } = new URL(upstream.url)

/** The CLI asks no mirror for a host with a port. */
const NAME = 'registry.example.test'

const settings = {
  PLINTH_MIRROR_UPSTREAMS: `${host} ${NAME}=${upstream.url}/api/registry/v1/providers/`,
  PLINTH_MIRROR_TOKENS: `${host}=${acme.owner.token} ${NAME}=${acme.owner.token}`,
}

const allow = async ({ owner, path }: TestOrganization, ...patterns: string[]) => {
  const body = document('provider-mirrors', { 'allowed-providers': patterns })
  expectStatus(await owner.patch(`${path}/provider-mirror`, body), 200)
}

onEachDialect(
  'the CLI with a network mirror',
  (server) => {
    testWithTerraform('installs and locks what the mirror has, also without its upstream', async (binary) => {
      const organization = await server.organization()
      const { owner, name } = organization
      await allow(organization, `${NAME}/acme/*`)
      const cli = new CliDirectory(binary, new URL(server.url).host, owner.token)
      onTestFinished(() => cli.remove())
      const useMirror = () => {
        const url = `${server.url}/mirror/${name}/`
        const credentials = `credentials "${new URL(server.url).host}" {\n  token = "${owner.token}"\n}\n`
        const mirror = `provider_installation {\n  network_mirror {\n    url = "${url}"\n  }\n}\n`
        cli.write('cli.tfrc', credentials + mirror)
        return url
      }
      const url = useMirror()
      cli.write('main.tf', requireProvider(`${NAME}/acme/${FIXTURE}`, '1.0.0', FIXTURE))
      const first = await cli.run('init')
      expect(first.output).toContain(`Installed ${NAME}/acme/${FIXTURE} v1.0.0 (verified checksum)`)
      expect(first.code).toBe(0)

      const platforms = [THIS_PLATFORM, 'windows_amd64'].map((platform) => `-platform=${platform}`)
      const locked = await cli.run('providers', 'lock', `-net-mirror=${url}`, ...platforms)
      expect([locked.code, locked.output]).toEqual([0, expect.stringContaining('Success!')])
      const lock = cli.read('.terraform.lock.hcl')
      const { archives } = (await owner.get(`/mirror/${name}/${NAME}/acme/${FIXTURE}/1.0.0.json`)).body
      for (const [platform, bytes] of release.archives) {
        const [zip, contents] = archives[platform].hashes
        expect(zip).toBe(`zh:${sha256(bytes)}`)
        expect(lock).toContain(`"${contents}"`)
      }

      // Nobody listens there.
      await server.restart({ PLINTH_MIRROR_UPSTREAMS: `${NAME}=https://127.0.0.1:1/` })
      useMirror()
      cli.forgetInstalled()
      expect((await cli.run('init')).code).toBe(0)
      cli.forgetInstalled()
      cli.write('main.tf', requireProvider(`${NAME}/other/${FIXTURE}`, '1.0.0', FIXTURE))
      expect((await cli.run('init')).code).toBe(1)
    })
  },
  { ...HTTPS, ...settings },
)

// No certificate, as on a laptop: the engine takes what is described to it.
onEachDialect(
  'a run with a mirror',
  (server) => {
    const plan = async ({ owner, path }: TestOrganization, source: string) => {
      const workspace = await newWorkspace(owner, path)
      const provider = `provider "fixture" {\n  directory = "/tmp"\n}\n`
      const main = requireProvider(source, '1.0.0', FIXTURE) + provider
      await uploadConfiguration(owner, workspace.id, { 'main.tf': main })
      const run = await newRun(owner, workspace.id, { 'plan-only': true })
      const { attributes } = await untilRun(owner, run.id, ['planned_and_finished', 'errored'])
      const log = await readLog(owner, 'plans', run.relationships.plan.data.id)
      return { status: attributes.status, log }
    }

    testWithTerraform('installs what is listed from there, verified, and nothing else', async () => {
      const organization = await server.organization()
      // Without a list runs go to the upstream themselves, which knows no token of theirs.
      const before = await plan(organization, `${host}/acme/${FIXTURE}`)
      expect([before.status, before.log]).toEqual([
        'errored',
        expect.stringMatching(/requires authentication\s+credentials/),
      ])
      await allow(organization, `${host}/acme/${FIXTURE}`)
      const { status, log } = await plan(organization, `${host}/acme/${FIXTURE}`)
      expect([status, log]).toEqual(['planned_and_finished', expect.stringContaining('No changes.')])
      const { data } = (await organization.owner.get(`${organization.path}/provider-mirror/packages`)).body
      expect(data).toHaveLength(1)
      rmSync(join(server.dataDir, 'plugins'), { recursive: true })
      const refused = await plan(organization, `${host}/acme/other`)
      expect([refused.status, refused.log]).toEqual([
        'errored',
        expect.stringMatching(/not available|not found|no available|could not/i),
      ])
    })
  },
  {
    ...settings,
    PLINTH_SANDBOX: 'none',
    PLINTH_RUN_WORKERS: '1',
    PLINTH_RUN_ENVIRONMENT: 'SSL_CERT_FILE',
    SSL_CERT_FILE: testCertificates().ca,
  },
)
