import { describe, expect } from 'vitest'
import { onEachDialect, type TestOrganization } from '../harness.ts'
import { testWithTerraform } from '../terraform.ts'
import { CloudDirectory, HTTPS, useClouds } from './cloud.ts'

const A = 'resource "terraform_data" "a" {\n  input = "one"\n}\n'
const B = 'resource "terraform_data" "b" {\n  input = "two"\n}\n'

onEachDialect(
  'terraform with a cloud block',
  (server) => {
    useClouds()

    const make = async (binary: string, workspace = 'name = "app"') => {
      const organization = await server.organization()
      return { organization, cli: new CloudDirectory(binary, server, organization, workspace) }
    }

    const runsOf = async ({ owner, path }: TestOrganization, workspace = 'app') => {
      const { id } = (await owner.get(`${path}/workspaces/${workspace}`)).body.data
      return (await owner.get(`/api/v2/workspaces/${id}/runs`)).body.data
    }

    describe.concurrent('', () => {
      testWithTerraform('plans, applies, shows and destroys', async (binary) => {
        const { organization, cli } = await make(binary)
        cli.configure(
          `${A}output "greeting" {\n  value = "hello"\n}\noutput "secret" {\n  value     = "s3cret"\n  sensitive = true\n}\n`,
        )
        await cli.succeed('init', '-input=false')

        const planned = await cli.succeed('plan')
        expect(planned).toContain('# terraform_data.a will be created')
        expect(planned).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
        expect(await runsOf(organization)).toMatchObject([
          { attributes: { status: 'planned_and_finished', 'plan-only': true, source: 'terraform+cloud' } },
        ])

        const applied = await cli.succeed('apply', '-auto-approve')
        expect(applied).toContain('terraform_data.a: Creation complete')
        expect(applied).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
        expect(applied).toContain('greeting = "hello"')
        expect(applied).not.toContain('s3cret')

        expect((await cli.run('output', '-raw', 'secret')).output).toBe('s3cret')
        expect(await cli.succeed('show')).toContain('terraform_data.a')
        expect(await cli.succeed('state', 'list')).toContain('terraform_data.a')
        expect(await cli.succeed('plan')).toContain('No changes.')

        const destroyed = await cli.succeed('destroy', '-auto-approve')
        expect(destroyed).toContain('Resources: 0 added, 0 changed, 1 destroyed.')
        const [last] = await runsOf(organization)
        const apply = await organization.owner.get(`/api/v2/applies/${last.relationships.apply.data.id}`)
        expect(apply.body.data.attributes).toMatchObject({
          status: 'finished',
          'resource-destructions': 1,
          'execution-details': { mode: 'remote' },
        })
      })

      testWithTerraform('asks before it applies, and takes no for an answer', async (binary) => {
        const { organization, cli } = await make(binary)
        cli.configure(A)
        await cli.succeed('init', '-input=false')
        const refused = cli.inTerminal('apply')
        await refused.untilShown('Enter a value:')
        refused.type('no')
        expect(await refused.ended).toBe(1)
        expect((await runsOf(organization))[0].attributes.status).toBe('discarded')

        const agreed = cli.inTerminal('apply')
        await agreed.untilShown('Enter a value:')
        agreed.type('yes')
        expect(await agreed.ended).toBe(0)
        expect(agreed.shown).toContain('Apply complete! Resources: 1 added')
        const [run] = await runsOf(organization)
        expect(run.attributes.status).toBe('applied')
        expect(run.relationships['confirmed-by'].data.id).toBe(organization.owner.id)
      })

      testWithTerraform('targets, replaces, refreshes, and takes variables', async (binary) => {
        const { cli } = await make(binary)
        cli.configure(
          `variable "name" {\n  type = string\n}\nvariable "list" {\n  type    = list(string)\n  default = []\n}\n${A}resource "terraform_data" "b" {\n  input = var.name\n}\noutput "list" {\n  value = join("+", var.list)\n}\n`,
        )
        await cli.succeed('init', '-input=false')
        const variable = String.raw`name=quoted " and ${'$'}{odd} \n`
        const targeted = await cli.succeed(
          'apply',
          '-auto-approve',
          '-target=terraform_data.a',
          '-var',
          variable,
        )
        expect(targeted).toContain('1 added')
        const rest = await cli.succeed('apply', '-auto-approve', '-var', variable, '-var', 'list=["x","y"]')
        expect(rest).toContain('1 added')
        expect((await cli.run('output', '-raw', 'list')).output).toBe('x+y')
        const pulled = JSON.parse(readState(await cli.run('state', 'pull')))
        const b = pulled.resources.find(({ name }: { name: string }) => name === 'b')
        expect(b.instances[0].attributes.input.value).toBe(variable.slice('name='.length))
        const replaced = await cli.succeed(
          'apply',
          '-auto-approve',
          '-replace=terraform_data.a',
          '-var',
          variable,
        )
        expect(replaced).toContain('1 added, 0 changed, 1 destroyed')
        const refreshed = await cli.succeed('apply', '-refresh-only', '-auto-approve', '-var', variable)
        expect(refreshed).toContain('No changes.')
      })

      testWithTerraform('saves a plan, shows it, and applies it', async (binary) => {
        const { organization, cli } = await make(binary)
        cli.configure(A)
        await cli.succeed('init', '-input=false')
        await cli.succeed('plan', '-out=saved')
        const [saved] = await runsOf(organization)
        expect(saved.attributes).toMatchObject({ status: 'planned_and_saved', 'save-plan': true })
        const workspace = (await organization.owner.get(`${organization.path}/workspaces/app`)).body.data
        expect(workspace.attributes.locked).toBe(false)
        expect(await cli.succeed('show', 'saved')).toContain('terraform_data.a will be created')
        expect(JSON.parse(readState(await cli.run('show', '-json', 'saved'))).resource_changes).toHaveLength(
          1,
        )
        expect(await cli.succeed('apply', 'saved')).toContain('1 added')
        const again = await cli.run('apply', 'saved')
        expect([again.code, again.output]).toEqual([1, expect.stringContaining('already')])
      })

      testWithTerraform('shows why a plan or an apply fails', async (binary) => {
        const { organization, cli } = await make(binary)
        cli.configure('resource "terraform_data" "a" {\n  input = var.missing\n}\n')
        await cli.succeed('init', '-input=false')
        const plan = await cli.run('plan')
        expect([plan.code, plan.output]).toEqual([1, expect.stringContaining('undeclared input variable')])
        cli.configure(
          `${A}resource "terraform_data" "b" {\n  depends_on = [terraform_data.a]\n  provisioner "local-exec" {\n    command = "exit 3"\n  }\n}\n`,
        )
        const apply = await cli.run('apply', '-auto-approve')
        expect([apply.code, apply.output]).toEqual([1, expect.stringContaining('exit status 3')])
        expect((await runsOf(organization))[0].attributes.status).toBe('errored')
        // What was made before the failure is in the state.
        expect(await cli.succeed('state', 'list')).toContain('terraform_data.a')
      })

      testWithTerraform('works in the workspaces of a tag', async (binary) => {
        const { organization, cli } = await make(binary, 'tags = ["net"]')
        cli.configure(`${B}output "in" {\n  value = terraform.workspace\n}\n`)
        const { owner, path } = organization
        const workspace = { name: 'net-one', 'tag-bindings': [] }
        await owner.post(`${path}/workspaces`, {
          data: {
            type: 'workspaces',
            attributes: { name: workspace.name },
            relationships: {
              'tag-bindings': { data: [{ type: 'tag-bindings', attributes: { key: 'net' } }] },
              tags: { data: [{ type: 'tags', attributes: { name: 'net' } }] },
            },
          },
        })
        await cli.succeed('init', '-input=false')
        await cli.succeed('workspace', 'new', 'net-two')
        expect(await cli.succeed('workspace', 'list')).toMatch(/net-one.*net-two/)
        await cli.succeed('apply', '-auto-approve')
        expect((await cli.run('output', '-raw', 'in')).output).toBe('net-two')
        await cli.succeed('workspace', 'select', 'net-one')
        const kept = await cli.run('workspace', 'delete', 'net-two')
        expect([kept.code, kept.output]).toEqual([1, expect.stringContaining('terraform_data.b')])
        await cli.succeed('workspace', 'delete', '-force', 'net-two')
        expect(await cli.succeed('workspace', 'list')).not.toContain('net-two')
      })
    })
  },
  { ...HTTPS, PLINTH_RUN_WORKERS: '5' },
)

/** What the CLI printed, where it must be JSON and nothing else. */
function readState({ code, output }: { code: number; output: string }): string {
  expect(code).toBe(0)
  return output
}
