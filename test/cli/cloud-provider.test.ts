import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../harness.ts'
import { FIXTURE, packProvider } from '../provider/pack.ts'
import { findProviders } from '../provider/processes.ts'
import { publish } from '../registry.ts'
import { newVariable, newWorkspace } from '../resources.ts'
import { readLog } from '../runs.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { requireProvider, THIS_PLATFORM } from './cli.ts'
import { CloudDirectory, HTTPS, useClouds } from './cloud.ts'

/** How the address ends at which an archive of the provider is offered. */
const OFFER = `/${FIXTURE}/1.0.0/download/${THIS_PLATFORM.replace('_', '/')}`

const SECRET = 'hunter2-and-more'

async function followed(client: Client, path: string): Promise<string> {
  const { headers } = expectStatus(await client.get(path), 307)
  return (await fetch(headers.get('location') as string)).text()
}

onEachDialect(
  'a run with a provider of the registry',
  (server) => {
    useClouds()

    testWithTerraform('installs it from there with its own token, and shows no secret', async (binary) => {
      const organization = await server.organization()
      const { owner, name, path } = organization
      const archive = await packProvider('1.0.0')
      await publish(organization, FIXTURE, '1.0.0', { platforms: [THIS_PLATFORM], archive })
      const workspace = await newWorkspace(owner, path, { name: 'app' })
      await newVariable(owner, workspace.id, { key: 'secret', value: SECRET, sensitive: true })
      const objects = mkdtempSync(join(tmpdir(), 'plinth-objects-'))
      onTestFinished(() => rmSync(objects, { recursive: true, force: true }))

      const cli = new CloudDirectory(binary, server, organization, 'name = "app"')
      const { host } = new URL(server.url)
      cli.write('versions.tf', requireProvider(`${host}/${name}/${FIXTURE}`, '1.0.0', FIXTURE))
      cli.configure(`provider "fixture" {
        directory = "${objects}"
      }
      variable "secret" {
        type = string
      }
      resource "fixture_file" "motd" {
        path    = "motd"
        content = "Hello"
        secret  = var.secret
        provisioner "local-exec" {
          command = "echo it is \${var.secret}"
        }
      }
      output "content" {
        value = fixture_file.motd.content
      }\n`)
      await cli.succeed('init', '-input=false')
      const created = await cli.succeed('apply', '-auto-approve')
      expect(created).toContain('# fixture_file.motd will be created')
      expect(created).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
      expect(created).toContain('content = "Hello"')
      expect(created).toContain('(local-exec): it is ***')
      expect(JSON.parse(readFileSync(join(objects, 'motd.json'), 'utf8')).secret).toBe(SECRET)

      const { id, relationships } = (await owner.get(`/api/v2/workspaces/${workspace.id}/runs`)).body.data[0]
      const requests = server.logLines.map((line) => JSON.parse(line))
      expect(requests.filter(({ path }) => path?.endsWith(OFFER)).map(({ subject }) => subject)).toContain(
        `run:${id}`,
      )
      const consumers = `${path}/registry-providers/private/${name}/${FIXTURE}/versions/1.0.0/consumers`
      const seen = expectStatus(await owner.get(consumers), 200).body.data
      expect(seen).toContainEqual(
        expect.objectContaining({
          id: workspace.id,
          attributes: expect.objectContaining({ name: 'app', downloads: 1, resources: 1 }),
        }),
      )
      const { plan, apply } = relationships
      const logs = [
        await readLog(owner, 'plans', plan.data.id),
        await readLog(owner, 'applies', apply.data.id),
        await followed(owner, `/api/v2/plans/${plan.data.id}/json-output-redacted`),
      ]
      for (const text of [created, ...logs, ...server.logLines]) expect(text).not.toContain(SECRET)
      expect(logs[2]).toContain('fixture_file')
      expect((await owner.get(`/api/v2/runs/${id}`)).body.data.attributes.status).toBe('applied')

      const destroyed = await cli.succeed('destroy', '-auto-approve')
      expect(destroyed).toContain('Resources: 0 added, 0 changed, 1 destroyed.')
      expect(existsSync(join(objects, 'motd.json'))).toBe(false)
      expect(await findProviders(server.dataDir)).toEqual([])
    })
  },
  {
    ...HTTPS,
    PLINTH_SANDBOX: 'none',
    PLINTH_RUN_WORKERS: '2',
    PLINTH_RUN_ENVIRONMENT: 'SSL_CERT_FILE',
    SSL_CERT_FILE: testCertificates().ca,
  },
)
