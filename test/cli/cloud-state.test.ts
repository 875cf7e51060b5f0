import { describe, expect } from 'vitest'
import { onEachDialect } from '../harness.ts'
import { newWorkspace } from '../resources.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CloudDirectory, HTTPS, useClouds } from './cloud.ts'

const A = 'resource "terraform_data" "a" {\n  input = "one"\n}\n'

onEachDialect(
  'terraform and the state on the server',
  (server) => {
    useClouds()

    const applied = async (binary: string, attributes: object = {}, block?: 'backend "remote"') => {
      const organization = await server.organization()
      await newWorkspace(organization.owner, organization.path, { name: 'app', ...attributes })
      const cli = new CloudDirectory(binary, server, organization, 'name = "app"', block)
      cli.configure(A)
      await cli.succeed('init', '-input=false')
      const output = await cli.succeed('apply', '-auto-approve')
      return { organization, cli, output, workspacePath: `${organization.path}/workspaces/app` }
    }

    describe.concurrent('', () => {
      testWithTerraform('moves, removes, imports and taints', async (binary) => {
        const { cli, organization, workspacePath } = await applied(binary)
        await cli.succeed('state', 'mv', 'terraform_data.a', 'terraform_data.moved')
        expect(await cli.succeed('state', 'list')).toContain('terraform_data.moved')
        await cli.succeed('taint', 'terraform_data.moved')
        await cli.succeed('untaint', 'terraform_data.moved')
        await cli.succeed('state', 'rm', 'terraform_data.moved')
        expect(await cli.succeed('state', 'list')).toBe('')
        await cli.succeed('import', 'terraform_data.a', 'some-id')
        expect(await cli.succeed('state', 'show', 'terraform_data.a')).toContain('some-id')
        const { owner } = organization
        const { id, attributes } = (await owner.get(workspacePath)).body.data
        expect(attributes.locked).toBe(false)
        const current = await owner.get(`/api/v2/workspaces/${id}/current-state-version`)
        expect(current.body.data.attributes).toMatchObject({ serial: 6, 'resources-processed': true })
        expect(current.body.data.relationships['created-by'].data.id).toBe(owner.id)
      })

      testWithTerraform('pulls and pushes, and refuses an older or a foreign state', async (binary) => {
        const { cli } = await applied(binary)
        const state = JSON.parse((await cli.run('state', 'pull')).output)
        const push = (changes: object) => {
          cli.write('pushed.tfstate', JSON.stringify({ ...state, ...changes }))
          return cli.run('state', 'push', 'pushed.tfstate')
        }
        const newer = await push({ serial: state.serial + 5 })
        expect([newer.code, newer.output]).toEqual([0, expect.any(String)])
        const { serial } = JSON.parse((await cli.run('state', 'pull')).output)
        expect(serial).toBeGreaterThan(state.serial + 4)
        for (const changes of [{ serial: 1 }, { lineage: 'b4b2ac2e-5f2c-6d73-3d2f-5d6b4a1d2c3e' }]) {
          const refused = await push(changes)
          expect([changes, refused.code, refused.output]).toEqual([changes, 1, expect.any(String)])
        }
        expect(JSON.parse((await cli.run('state', 'pull')).output).serial).toBe(serial)
      })

      testWithTerraform('keeps the state of a workspace whose runs are local', async (binary) => {
        const { cli, organization, output, workspacePath } = await applied(binary, {
          'execution-mode': 'local',
        })
        expect(output).toContain('Apply complete! Resources: 1 added')
        const { owner } = organization
        const { id } = (await owner.get(workspacePath)).body.data
        expect((await owner.get(`/api/v2/workspaces/${id}/runs`)).body.data).toEqual([])
        await cli.succeed('plan', '-out=local.plan')
        await cli.succeed('apply', 'local.plan')
        expect(await cli.succeed('destroy', '-auto-approve')).toContain('1 destroyed')
      })

      testWithTerraform('unlocks by force, by whoever locked it', async (binary) => {
        const { cli, organization, workspacePath } = await applied(binary)
        const { owner, name } = organization
        const { id } = (await owner.get(workspacePath)).body.data
        await owner.post(`/api/v2/workspaces/${id}/actions/lock`, { reason: 'elsewhere' })
        const refused = await cli.run('state', 'rm', 'terraform_data.a')
        expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('already locked')])
        await cli.succeed('force-unlock', '-force', `${name}/app`)
        await cli.succeed('state', 'rm', 'terraform_data.a')
      })

      testWithTerraform('works with backend "remote" too', async (binary) => {
        const { cli, output } = await applied(binary, {}, 'backend "remote"')
        expect(output).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
        expect(output).not.toContain('"@level"')
        expect(await cli.succeed('plan')).toContain('No changes.')
        expect(await cli.succeed('state', 'list')).toContain('terraform_data.a')
        expect(await cli.succeed('destroy', '-auto-approve')).toContain('1 destroyed')
      })

      testWithTerraform('runs tests on the machine of whoever starts them', async (binary) => {
        const { cli } = await applied(binary)
        cli.write(
          'a.tftest.hcl',
          'run "it" {\n  command = plan\n  assert {\n    condition     = terraform_data.a.input == "one"\n    error_message = "no"\n  }\n}\n',
        )
        expect(await cli.succeed('test')).toContain('1 passed, 0 failed')
      })

      testWithTerraform(
        'reads what another workspace shares, and nothing that it does not',
        async (binary) => {
          const organization = await server.organization()
          const { owner, path } = organization
          const source = await newWorkspace(owner, path, { name: 'source' })
          const producer = new CloudDirectory(binary, server, organization, 'name = "source"')
          producer.configure('output "shared" {\n  value = "from the source"\n}\n')
          await producer.succeed('init', '-input=false')
          await producer.succeed('apply', '-auto-approve')
          const consumer = new CloudDirectory(binary, server, organization, 'name = "consumer"')
          const { host } = new URL(server.url)
          consumer.configure(
            `data "terraform_remote_state" "source" {
            backend = "remote"
            config = {
              hostname     = "${host}"
              organization = "${organization.name}"
              workspaces   = { name = "source" }
            }
          }
          output "read" {
            value = data.terraform_remote_state.source.outputs.shared
          }\n`,
          )
          await consumer.succeed('init', '-input=false')
          const refused = await consumer.run('apply', '-auto-approve')
          expect(refused.code).toBe(1)
          const { id } = (await owner.get(`${path}/workspaces/consumer`)).body.data
          const shared = await owner.post(
            `/api/v2/workspaces/${source.id}/relationships/remote-state-consumers`,
            {
              data: [{ type: 'workspaces', id }],
            },
          )
          expect(shared.status).toBe(204)
          expect(await consumer.succeed('apply', '-auto-approve')).toContain('from the source')
        },
      )
    })
  },
  {
    ...HTTPS,
    PLINTH_RUN_WORKERS: '5',
    PLINTH_RUN_ENVIRONMENT: 'SSL_CERT_FILE',
    SSL_CERT_FILE: testCertificates().ca,
  },
)
