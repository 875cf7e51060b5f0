import { describe, expect } from 'vitest'
import { onEachDialect, type TestServer } from '../harness.ts'
import { newWorkspace } from '../resources.ts'
import { testWithTerraform } from '../terraform.ts'
import { CloudDirectory, HTTPS, useClouds } from './cloud.ts'

const CONFIGURATION = (input: string) => `resource "terraform_data" "a" {
  input = "${input}"
}
output "plain" {
  value = { list = [1, "two"], flag = true }
}
output "secret" {
  value     = "hunter2"
  sensitive = true
}\n`

/** A workspace whose runs are local, after two applies; the states that they left. */
async function applyTwice(server: TestServer, binary: string) {
  const organization = await server.organization()
  const { owner, path } = organization
  const { id } = await newWorkspace(owner, path, { name: 'app', 'execution-mode': 'local' })
  const cli = new CloudDirectory(binary, server, organization, 'name = "app"')
  const pull = async () => (await cli.run('state', 'pull')).output
  const states: string[] = []
  for (const input of ['one', 'two']) {
    cli.configure(CONFIGURATION(input))
    if (input === 'one') await cli.succeed('init', '-input=false')
    await cli.succeed('apply', '-auto-approve')
    states.push(await pull())
  }
  const workspace = async () => (await owner.get(`/api/v2/workspaces/${id}`)).body.data
  return { owner, id, cli, pull, states, workspace, at: `/api/v2/workspaces/${id}` }
}

onEachDialect(
  'the state that terraform sends',
  (server) => {
    useClouds()

    describe.concurrent('', () => {
      testWithTerraform('may be an older one with -force, and then only', async (binary) => {
        const { cli, pull, states, workspace } = await applyTwice(server, binary)
        const [first = ''] = states
        cli.write('first.tfstate', first)
        const refused = await cli.run('state', 'push', 'first.tfstate')
        expect([refused.code, (await workspace()).attributes.locked]).toEqual([1, false])
        const forced = await cli.run('state', 'push', '-force', 'first.tfstate')
        expect([forced.code, forced.output]).toEqual([0, ''])
        expect((await workspace()).attributes.locked).toBe(false)
        const { resources } = JSON.parse(await pull())
        expect(resources[0].instances[0].attributes.input.value).toBe('one')
        // Work goes on from there.
        await cli.succeed('apply', '-auto-approve')
      })

      testWithTerraform('is rolled back, and work goes on from there', async (binary) => {
        const { owner, cli, pull, at } = await applyTwice(server, binary)
        const versions = await owner.get(`${at}/current-state-version`)
        const { serial } = versions.body.data.attributes
        const name = (await owner.get(at)).body.data
        const filter = `filter[workspace][name]=${name.attributes.name}&filter[organization][name]=${name.relationships.organization.data.id}`
        const listed = (await owner.get(`/api/v2/state-versions?${filter}&filter[status]=finalized`)).body
          .data
        const target = listed.at(-1).id
        await owner.post(`${at}/actions/lock`)
        const rolledBack = await owner.patch(`${at}/state-versions`, {
          data: {
            type: 'state-versions',
            relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: target } } },
          },
        })
        expect(rolledBack.status).toBe(201)
        await owner.post(`${at}/actions/unlock`)
        const state = JSON.parse(await pull())
        expect(state).toMatchObject({ serial: serial + 1 })
        expect(state.resources[0].instances[0].attributes.input.value).toBe('one')
        expect(await cli.succeed('apply', '-auto-approve')).toContain('1 changed')
      })

      testWithTerraform('tells its outputs, sensitive ones too, and what it manages', async (binary) => {
        const { owner, cli, at, states } = await applyTwice(server, binary)
        expect(await cli.succeed('output', '-raw', 'secret')).toContain('hunter2')
        expect(JSON.parse((await cli.run('output', '-json', 'plain')).output)).toEqual({
          flag: true,
          list: [1, 'two'],
        })
        expect(await cli.succeed('output')).toContain('secret = <sensitive>')
        const resources = (await owner.get(`${at}/resources`)).body.data
        expect(resources).toMatchObject([
          { attributes: { address: 'terraform_data.a', provider: 'builtin/terraform' } },
        ])
        const current = (await owner.get(`${at}/current-state-version`)).body.data.attributes
        const bytes = Buffer.from(await (await fetch(current['hosted-state-download-url'])).arrayBuffer())
        expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(states[1] as string))
        const json = await (await fetch(current['hosted-json-state-download-url'])).text()
        expect(JSON.parse(json).values.root_module.resources[0].address).toBe('terraform_data.a')
      })
    })
  },
  { ...HTTPS },
)
