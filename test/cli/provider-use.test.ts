import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { onEachDialect } from '../harness.ts'
import { FIXTURE, packProvider } from '../provider/pack.ts'
import { findProviders } from '../provider/processes.ts'
import { publish } from '../registry.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory, requireProvider, THIS_PLATFORM } from './cli.ts'

const { ca, cert, key } = testCertificates()

onEachDialect(
  'a published provider',
  (server) => {
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })

    testWithTerraform('manages objects from their creation to their end', async (binary) => {
      const organization = await server.organization()
      const { owner, name } = organization
      const archive = await packProvider('1.0.0')
      await publish(organization, FIXTURE, '1.0.0', { platforms: [THIS_PLATFORM], archive })

      const { host } = new URL(server.url)
      const cli = new CliDirectory(binary, host, owner.token)
      onTestFinished(() => cli.remove())
      cli.write('versions.tf', requireProvider(`${host}/${name}/${FIXTURE}`, '1.0.0', FIXTURE))
      const configure = (resources: string) =>
        cli.write('main.tf', `provider "fixture" {\n  directory = "objects"\n}\n${resources}`)
      const object = (path: string) => JSON.parse(cli.read(`objects/${path}.json`))
      const apply = () => cli.run('apply', '-auto-approve', '-input=false')

      configure(`resource "fixture_file" "motd" {
        path    = "motd"
        content = "Hello"
      }`)
      expect(await cli.run('init')).toMatchObject({ code: 0 })
      const created = await apply()
      expect(created.output).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
      expect(object('motd')).toEqual({ path: 'motd', content: 'Hello', secret: null })
      expect(await cli.run('plan', '-detailed-exitcode')).toMatchObject({ code: 0 })

      const motd = `resource "fixture_file" "motd" {
        path    = "motd"
        content = "Welcome"
        secret  = "hunter2"
      }`
      configure(motd)
      const changed = await apply()
      expect(changed.output).toContain('Apply complete! Resources: 0 added, 1 changed, 0 destroyed.')
      expect(changed.output).not.toContain('hunter2')
      expect(object('motd')).toEqual({ path: 'motd', content: 'Welcome', secret: 'hunter2' })

      cli.write('objects/found.json', JSON.stringify({ path: 'found', content: 'old', secret: null }))
      const found = `resource "fixture_file" "found" {
        path = "found"
      }`
      configure(`${motd}\n${found}`)
      expect((await cli.run('import', 'fixture_file.found', 'found')).output).toContain('Import successful!')
      expect(await cli.run('plan', '-detailed-exitcode')).toMatchObject({ code: 0 })

      configure(`${motd.replace('Welcome', 'Goodbye')}\n${found.replace('}', 'failure = "disk full"\n}')}`)
      const failed = await apply()
      expect(failed.code).toBe(1)
      expect(failed.output).toMatch(/Error: The object failed .* on main.tf line \d+, .* disk full/)
      expect([object('motd').content, object('found').content]).toEqual(['Goodbye', 'old'])

      const destroyed = await cli.run('destroy', '-auto-approve')
      expect(destroyed.output).toContain('Destroy complete! Resources: 2 destroyed.')
      expect(existsSync(join(cli.path, 'objects/motd.json'))).toBe(false)
      expect(await findProviders(cli.path)).toEqual([])
    })
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
