import { describe, expect } from 'vitest'
import { onEachDialect, type TestOrganization } from '../harness.ts'
import { untilRun } from '../runs.ts'
import { testWithTerraform } from '../terraform.ts'
import { CloudDirectory, HTTPS, useClouds } from './cloud.ts'

/** Takes a while, and leaves something behind that was made before. */
const SLOW = `resource "terraform_data" "first" {
  input = "made"
}
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "sleep 60"
  }
}\n`

const INTERRUPT = '\x03'

onEachDialect(
  'Ctrl-C',
  (server) => {
    useClouds()

    const start = async (binary: string, ...args: string[]) => {
      const organization = await server.organization()
      const cli = new CloudDirectory(binary, server, organization, 'name = "app"')
      cli.configure(SLOW)
      await cli.succeed('init', '-input=false')
      return { organization, cli, terminal: cli.inTerminal(...args) }
    }

    const lastRun = async ({ owner, path }: TestOrganization) => {
      const { id } = (await owner.get(`${path}/workspaces/app`)).body.data
      return (await owner.get(`/api/v2/workspaces/${id}/runs`)).body.data[0]
    }

    describe.concurrent('', () => {
      testWithTerraform('during an apply cancels it, and what was made is kept', async (binary) => {
        const { organization, cli, terminal } = await start(binary, 'apply', '-auto-approve')
        await terminal.untilShown('slow: Provisioning with')
        terminal.press(INTERRUPT)
        await terminal.ended
        await untilRun(organization.owner, (await lastRun(organization)).id, ['canceled'])
        const workspace = (await organization.owner.get(`${organization.path}/workspaces/app`)).body.data
        expect(workspace.attributes.locked).toBe(false)
        expect(await cli.succeed('state', 'list')).toContain('terraform_data.first')
      })

      testWithTerraform('twice leaves at once, and the run ends all the same', async (binary) => {
        const { organization, terminal } = await start(binary, 'apply', '-auto-approve')
        await terminal.untilShown('slow: Provisioning with')
        terminal.press(INTERRUPT)
        await terminal.untilShown('Interrupt received')
        terminal.press(INTERRUPT)
        await terminal.ended
        await untilRun(organization.owner, (await lastRun(organization)).id, ['canceled'])
      })

      testWithTerraform('at the question leaves the run to be decided on', async (binary) => {
        const { organization, terminal } = await start(binary, 'apply')
        await terminal.untilShown('Enter a value:')
        terminal.press(INTERRUPT)
        await terminal.ended
        const run = await lastRun(organization)
        expect(run.attributes.status).toBe('planned')
        const discarded = await organization.owner.post(`/api/v2/runs/${run.id}/actions/discard`, {})
        expect(discarded.status).toBe(202)
      })

      testWithTerraform('during a plan leaves the run alone', async (binary) => {
        const organization = await server.organization()
        const cli = new CloudDirectory(binary, server, organization, 'name = "app"')
        cli.configure(SLOW)
        await cli.succeed('init', '-input=false')
        const terminal = cli.inTerminal('plan')
        await terminal.untilShown('To view this run in a browser')
        terminal.press(INTERRUPT)
        expect(await terminal.ended).toBe(1)
        await untilRun(organization.owner, (await lastRun(organization)).id, ['planned_and_finished'])
      })
    })
  },
  { ...HTTPS, PLINTH_RUN_WORKERS: '4' },
)
