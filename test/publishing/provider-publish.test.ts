import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { CliDirectory, THIS_PLATFORM } from '../cli/cli.ts'
import { expectStatus, onEachDialect, type TestOrganization } from '../harness.ts'
import { addKey, createProvider, makeArchive, makeKey, publish, sha256 } from '../registry.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { callPlinth, environmentOf, startPlinth } from './plinth.ts'
import { writeRelease } from './releases.ts'

const { ca, cert, key } = testCertificates()

onEachDialect(
  'plinth provider publish',
  (server) => {
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })

    const argsOf = (organization: TestOrganization, dist: string, ...more: string[]) => [
      ...['provider', 'publish', dist, '--organization', organization.name],
      ...more,
    ]
    const call = (organization: TestOrganization, dist: string, ...more: string[]) =>
      callPlinth(argsOf(organization, dist, ...more), environmentOf(server, organization.owner.token))
    const callJson = async (organization: TestOrganization, dist: string, ...more: string[]) => {
      const { code, stdout, stderr } = await call(organization, dist, '--json', ...more)
      expect(stderr).toBe('')
      return { code, body: JSON.parse(stdout) }
    }

    testWithTerraform('publishes what goreleaser made, and terraform installs it', async (terraform) => {
      const organization = await server.organization()
      const { name, owner } = organization
      const release = await writeRelease({
        platforms: [...new Set([THIS_PLATFORM, 'linux_armv6', 'windows_amd64'])],
      })
      const args = argsOf(organization, release.dist, '--key', release.keyFile)
      const { code, stdout, stderr } = await startPlinth(args, environmentOf(server, owner.token)).result
      const host = new URL(server.url).host
      expect(stderr).toMatch(/registering key .*\ncreating provider .*\ncreating version 1\.2\.3\n/)
      expect(stderr).toMatch(/SHA256SUMS\.sig \(\d+ B\)\nverifying what clients will get\n$/)
      expect(stdout).toContain(`Published ${host}/${name}/demo 1.2.3, signed by key ${release.key.keyId}.`)
      expect(code).toBe(0)

      const terraformDirectory = new CliDirectory(terraform, host, owner.token)
      onTestFinished(() => terraformDirectory.remove())
      // As it is printed.
      terraformDirectory.write('main.tf', stdout.slice(stdout.indexOf('terraform {')))
      const { output } = await terraformDirectory.run('init')
      expect(output).toContain(
        `Installed ${host}/${name}/demo v1.2.3 (self-signed, key ID ${release.key.keyId})`,
      )
      const versions = await owner.get(`/api/registry/v1/providers/${name}/demo/versions`)
      expect(versions.body.versions[0]).toMatchObject({ version: '1.2.3', protocols: ['6.0'] })
      expect(versions.body.versions[0].platforms).toContainEqual({ os: 'linux', arch: 'arm' })
    })

    test('releases once: the same again is no failure, other contents are refused', async () => {
      const organization = await server.organization()
      const release = await writeRelease()
      const first = await callJson(organization, release.dist, '--key', release.keyFile)
      expect(first).toMatchObject({
        code: 0,
        body: {
          status: 'published',
          source: `${new URL(server.url).host}/${organization.name}/demo`,
          version: '1.2.3',
          protocols: ['6.0'],
          'key-id': release.key.keyId,
          created: { provider: true, key: true, version: true },
          findings: [],
          verified: {
            platforms: ['linux_amd64', 'linux_arm', 'windows_amd64'],
            downloads: true,
            warnings: [],
          },
        },
      })
      expect(first.body.uploaded).toHaveLength(5)
      expect(first.body.uploaded.at(-1)).toBe(`${release.prefix}_SHA256SUMS.sig`)

      // The registry knows the key now.
      const again = await callJson(organization, release.dist)
      expect(again).toMatchObject({
        code: 0,
        body: {
          status: 'already-published',
          created: { provider: false, key: false, version: false },
          uploaded: [],
          verified: { downloads: false },
        },
      })

      const archive = await makeArchive('demo', '1.2.3', 'changed')
      const file = `${release.prefix}_linux_amd64.zip`
      release.write(file, archive)
      await release.sign(release.shasums.replace(/^\w{64}/, sha256(archive)))
      const changed = await call(organization, release.dist)
      expect(changed.code).toBe(5)
      expect(changed.stderr).toContain('demo 1.2.3 is in the registry with other contents')
      expect(changed.stderr).toContain(`only this release has ${sha256(archive)}  ${file}`)
    })

    test('refuses contents that differ in the key, the protocols, or from what was deleted', async () => {
      const organization = await server.organization()
      const { owner } = organization
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      const published = await callJson(organization, release.dist, '--key', release.keyFile)
      expect(published.code).toBe(0)
      const other = await callJson(organization, release.dist, '--protocols', '5.0')
      expect(other.code).toBe(5)
      expect(other.body.error.details).toEqual(['it speaks protocols 6.0, this release 5.0'])

      const path = `${organization.path}/registry-providers/private/${organization.name}/demo/versions/1.2.3`
      expectStatus(await owner.delete(path), 204)
      const rebuilt = await writeRelease({ platforms: ['linux_amd64'], content: 'other', key: release.key })
      const refused = await callJson(organization, rebuilt.dist)
      expect(refused.code).toBe(5)
      expect(refused.body.error.details.join()).toMatch(/was released for linux_amd64 before/)
    })

    test('goes on with a version that somebody began by other means', async () => {
      const organization = await server.organization()
      const { name, owner, path } = organization
      const first = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
      const release = await writeRelease({ version: '1.1.0', key: first.key })
      expectStatus(
        await owner.post(`${first.path}/versions`, {
          data: {
            type: 'registry-provider-versions',
            attributes: { version: '1.1.0', 'key-id': first.key.keyId, protocols: ['6.0'] },
          },
        }),
        201,
      )
      const { code, body } = await callJson(organization, release.dist)
      expect(body).toMatchObject({
        status: 'published',
        created: { provider: false, key: false, version: false },
      })
      expect(code).toBe(0)
      expect((await owner.get(`${path}/registry-providers/private/${name}/demo/versions/1.1.0`)).status).toBe(
        200,
      )
    })

    test('signs plain archives by a private key, which never leaves', async () => {
      const organization = await server.organization()
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      for (const file of ['_SHA256SUMS', '_SHA256SUMS.sig']) rmSync(join(release.dist, release.prefix + file))
      for (const file of ['artifacts.json', 'metadata.json']) rmSync(join(release.dist, file))
      release.write('../private.asc', release.key.privateArmor)
      const privateKey = join(release.dist, '../private.asc')
      const { code, body } = await callJson(organization, release.dist, '--sign', '--key', privateKey)
      expect(body).toMatchObject({ status: 'published', 'key-id': release.key.keyId, findings: [] })
      expect(code).toBe(0)
      // What was made stays, as if goreleaser had made it.
      expect((await callJson(organization, release.dist)).body.status).toBe('already-published')
      // Signatures differ each time, contents do not.
      expect((await callJson(organization, release.dist, '--sign', '--key', privateKey)).body.status).toBe(
        'already-published',
      )
    })

    test('says what is wrong with the token, and exits with a code of its own', async () => {
      const organization = await server.organization()
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      const args = argsOf(organization, release.dist, '--key', release.keyFile)
      const wrong = await callPlinth(args, environmentOf(server, 'wrong-token'))
      expect(wrong.code).toBe(4)
      expect(wrong.stderr).toContain('was answered 401')
      expect((await callPlinth(args, environmentOf(server, undefined))).stderr).toContain(
        'there is no token for',
      )
      const member = await server.member(organization)
      const refused = await callPlinth(args, environmentOf(server, member.token))
      expect(refused.code).toBe(4)
      expect(refused.stderr).toMatch(/POST \/api\/registry\/private\/v2\/gpg-keys .* answered 404/)
      expect(
        (
          await callPlinth(
            argsOf({ ...organization, name: 'no-such' }, release.dist),
            environmentOf(server, member.token),
          )
        ).code,
      ).toBe(4)
    })

    test('needs no more than a token that may publish one provider, where that and its key are there', async () => {
      const organization = await server.organization()
      const { owner } = organization
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      await addKey(organization, release.key)
      const { id } = expectStatus(await owner.get(await createProvider(organization, 'demo')), 200).body.data
      const limited = await owner.post(`/api/v2/users/${owner.id}/authentication-tokens`, {
        data: {
          type: 'authentication-tokens',
          attributes: { description: 'pipeline' },
          relationships: { 'registry-providers': { data: [{ id, type: 'registry-providers' }] } },
        },
      })
      const { token } = expectStatus(limited, 201).body.data.attributes
      const publishing = (dist: string) =>
        callPlinth(argsOf(organization, dist), environmentOf(server, token))
      expect((await publishing(release.dist)).code).toBe(0)
      const other = await writeRelease({ name: 'other', platforms: ['linux_amd64'], key: release.key })
      expect((await publishing(other.dist)).code).toBe(4)
    })

    test('shows where a request was wrong, as the server says it', async () => {
      const organization = await server.organization()
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      const { code, body } = await callJson(
        organization,
        release.dist,
        '--key',
        release.keyFile,
        '--protocols',
        '9.0',
      )
      expect(code).toBe(3)
      expect(body.error.details.join()).toMatch(/\(\/data\/attributes\/protocols/)
    })

    test('wants a key that the registry or this machine knows, and asks for it', async () => {
      const organization = await server.organization()
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      const unknown = await callJson(organization, release.dist)
      expect(unknown.code).toBe(3)
      expect(unknown.body.error.advice).toContain('--key public.asc')
      // The registry has it under this id only.
      const [keyId, otherId] = [release.key.keyId, (await makeKey()).keyId]
      await addKey(organization, release.key)
      expect((await callJson(organization, release.dist, '--key', otherId)).code).toBe(3)
      expect((await callJson(organization, release.dist, '--key', keyId.toLowerCase())).code).toBe(0)
      release.write(`${release.prefix}_SHA256SUMS.sig`, await release.key.sign(Buffer.from('else')))
      const unfit = await callJson(organization, release.dist)
      expect(unfit.code).toBe(3)
      expect(unfit.body.error.message).toContain('the signature does not fit the list of digests')
      // The key of another release does not fit.
      release.write('../other.asc', (await makeKey()).armor)
      const other = await callJson(organization, release.dist, '--key', join(release.dist, '../other.asc'))
      expect(other.code).toBe(3)
      expect(other.body.findings).toMatchObject([{ code: 'signature-refused' }])
    })

    test('takes the token that terraform login saved, and the server from TFE_ADDRESS', async () => {
      const organization = await server.organization()
      const release = await writeRelease({ platforms: ['linux_amd64'] })
      const home = join(release.dist, 'home')
      const { host } = new URL(server.url)
      const args = [...argsOf(organization, release.dist), '--key', release.keyFile]
      const credentials = JSON.stringify({ credentials: { [host]: { token: organization.owner.token } } })
      mkdirSync(join(home, '.terraform.d'), { recursive: true })
      release.write('home/.terraform.d/credentials.tfrc.json', credentials)
      const environment = { HOME: home, PATH: process.env['PATH'], TFE_ADDRESS: server.url }
      expect((await callPlinth(args, environment)).code).toBe(0)
      const { TFE_ADDRESS: _, ...without } = environment
      const byName = { ...without, TFE_HOSTNAME: host, [`TF_TOKEN_${host.replaceAll('.', '_')}`]: 'wrong' }
      expect((await callPlinth(args, byName)).code).toBe(4)
    })
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
