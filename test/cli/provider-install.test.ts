import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { afterEach, beforeAll, expect } from 'vitest'
import { expectStatus, onEachDialect } from '../harness.ts'
import { addKey, makeKey, publish, sha256, versionBody } from '../registry.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory, requireProvider, THIS_PLATFORM } from './cli.ts'

const { ca, cert, key } = testCertificates()

onEachDialect(
  'terraform init, over HTTPS,',
  (server) => {
    const directories: CliDirectory[] = []
    const platforms = [THIS_PLATFORM, 'windows_amd64']

    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })
    afterEach(() => {
      for (const directory of directories.splice(0)) directory.remove()
    })

    const directory = (binary: string, token: string | undefined) => {
      const made = new CliDirectory(binary, new URL(server.url).host, token)
      directories.push(made)
      return made
    }
    const source = (namespace: string, name = 'demo') => `${new URL(server.url).host}/${namespace}/${name}`

    testWithTerraform('installs a signed provider, and locks it with every hash', async (binary) => {
      const organization = await server.organization()
      const { owner, name } = organization
      const release = await publish(organization, 'demo', '1.2.3', { platforms })
      const cli = directory(binary, owner.token)
      cli.write('main.tf', requireProvider(source(name), '~> 1.0'))
      const { code, output } = await cli.run('init')
      expect(output).toContain(`Installed ${source(name)} v1.2.3 (self-signed, key ID ${release.key.keyId})`)
      expect(code).toBe(0)

      const lock = cli.read('.terraform.lock.hcl')
      const [os, arch] = THIS_PLATFORM.split('_')
      const { packages } = (
        await owner.get(`/api/registry/v1/providers/${name}/demo/1.2.3/download/${os}/${arch}`)
      ).body
      const h1 = packages[THIS_PLATFORM].hashes[1]
      expect(lock.match(/"h1:[^"]+"/g)).toEqual([`"${h1}"`])
      const digests = [...release.archives.values()].map((archive) => `"zh:${sha256(archive)}"`)
      expect(lock.match(/"zh:[^"]+"/g)?.sort()).toEqual(digests.sort())

      cli.forgetInstalled()
      expect((await cli.run('init')).code).toBe(0)
      cli.forgetInstalled()
      cli.write(
        '.terraform.lock.hcl',
        lock.replace(/"(h1|zh):./g, (match) => `${match.slice(0, -1)}${match.endsWith('0') ? '1' : '0'}`),
      )
      const refused = await cli.run('init')
      expect(refused.code).not.toBe(0)
      expect(refused.output).toMatch(/match any of the checksums previously recorded/)
    })

    testWithTerraform('needs the right token', async (binary) => {
      const organization = await server.organization()
      const { owner, name } = organization
      await publish(organization, 'demo', '1.0.0', { platforms })
      const stranger = await server.user()
      const tries: [string | undefined, number, RegExp][] = [
        [undefined, 1, /requires authentication credentials|401 Unauthorized/],
        ['wrong', 1, /rejected the given authentication credentials|401 Unauthorized/],
        [stranger.token, 1, /does not have a provider named|was not found/],
        [owner.token, 0, /Installed/],
      ]
      for (const [token, expected, message] of tries) {
        const cli = directory(binary, token)
        cli.write('main.tf', requireProvider(source(name), '1.0.0'))
        const { code, output } = await cli.run('init')
        expect(output).toMatch(message)
        expect(code).toBe(expected)
      }
    })

    for (const kind of ['rsa', 'ecdsa', 'eddsa'] as const) {
      testWithTerraform(
        `accepts what an ${kind} key signed, also after the key was deleted`,
        async (binary) => {
          const organization = await server.organization()
          const { owner, name } = organization
          const release = await publish(organization, 'demo', '1.0.0', {
            platforms,
            key: await addKey(organization, await makeKey(kind)),
          })
          expectStatus(
            await owner.delete(`/api/registry/private/v2/gpg-keys/${name}/${release.key.keyId}`),
            201,
          )
          const cli = directory(binary, owner.token)
          cli.write('main.tf', requireProvider(source(name), '1.0.0'))
          expect((await cli.run('init')).output).toContain(`key ID ${release.key.keyId}`)
        },
      )
    }

    testWithTerraform('shows that the key has expired, and installs all the same', async (binary) => {
      const organization = await server.organization()
      const { owner, name } = organization
      const options = { date: new Date('2020-01-01'), keyExpirationTime: 60 }
      const expired = await addKey(organization, await makeKey('eddsa', options))
      await publish(organization, 'demo', '1.0.0', { platforms, key: expired })
      const cli = directory(binary, owner.token)
      cli.write('main.tf', requireProvider(source(name), '1.0.0'))
      const { code, output } = await cli.run('init')
      expect(output.replace(/\s+/g, ' ')).toContain(
        `1.0.0: signed by key ${expired.keyId}, which expired on 2020-01-01.`,
      )
      expect(code).toBe(0)
    })

    testWithTerraform(
      'shows why a version is deprecated, and installs none that is revoked',
      async (binary) => {
        const organization = await server.organization()
        const { owner, name } = organization
        const { path, key: signer } = await publish(organization, 'demo', '1.0.0', { platforms })
        await publish(organization, 'demo', '1.1.0', { platforms, path, key: signer })
        const member = `${path}/versions/1.1.0`
        const change = async (attributes: object) =>
          expectStatus(await owner.patch(member, versionBody(attributes)), 200)
        const reason = 'It leaks connections; use 1.2.0.'
        const link = 'https://example.com/advisories/7'
        await change({ deprecation: { 'deprecated-status': 'Deprecated', reason, link } })
        const cli = directory(binary, owner.token)
        cli.write('main.tf', requireProvider(source(name), '~> 1.0'))
        const { code, output } = await cli.run('init')
        expect(code).toBe(0)
        expect(output).toContain(`Installed ${source(name)} v1.1.0`)
        expect(output).toContain('Additional provider information from registry')
        expect(output).toContain(`1.1.0: deprecated: It leaks connections; use 1.2.0 (${link}).`)
        const downloads = async () => (await owner.get(member)).body.data.attributes.downloads
        // Of the HEAD and the GET that terraform sends, one counts.
        await expect.poll(downloads, { timeout: 5000 }).toBe(1)

        await change({ revocation: { status: 'Revoked', message: 'It deletes what it should not.' } })
        cli.forgetInstalled()
        const locked = await cli.run('init')
        expect(locked.code).not.toBe(0)
        expect(locked.output).toMatch(
          /previously-selected version 1\.1\.0 is no longer available|no available releases/,
        )
        expect((await cli.run('init', '-upgrade')).output).toContain(`Installed ${source(name)} v1.0.0`)
        await change({ revocation: { status: 'Unrevoked' } })
        expect((await cli.run('init', '-upgrade')).output).toContain(`Installed ${source(name)} v1.1.0`)
      },
    )

    testWithTerraform(
      'picks the newest version that fits, and is told what does not exist',
      async (binary) => {
        const organization = await server.organization()
        const { owner, name } = organization
        const { path, key: signer } = await publish(organization, 'demo', '1.0.0', { platforms })
        for (const version of ['1.10.0', '1.9.0', '2.0.0-beta.1']) {
          await publish(organization, 'demo', version, { platforms, path, key: signer })
        }
        await publish(organization, 'demo', '3.0.0', { platforms: ['windows_amd64'], path, key: signer })
        const cli = directory(binary, owner.token)
        cli.write('main.tf', requireProvider(source(name), '~> 1.0'))
        expect((await cli.run('init')).output).toContain('v1.10.0')
        cli.write('main.tf', requireProvider(source(name), '2.0.0-beta.1'))
        expect((await cli.run('init', '-upgrade')).output).toContain('v2.0.0-beta.1')
        cli.write('main.tf', requireProvider(source(name), '3.0.0'))
        expect((await cli.run('init', '-upgrade')).output).toMatch(
          /not have a package available|not available for/,
        )
        cli.write('main.tf', requireProvider(source(name, 'none'), '1.0.0'))
        expect((await cli.run('init', '-upgrade')).output).toMatch(/does not have a provider named|not found/)
      },
    )
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
