import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { bundledCommand } from '../bundled.ts'
import { Client, createPostgresDatabase, DIALECTS, type Dialect, expectStatus } from '../harness.ts'
import { Program } from '../program.ts'
import { document, newWorkspace } from '../resources.ts'
import { newRun, readLog, runDocument, until, untilRun, uploadConfiguration } from '../runs.ts'
import { slowEngine } from '../runs-engine.ts'
import { testWithTerraform } from '../terraform.ts'

const TOKEN = 'a-token-for-killed-servers'
const VERSION = '1.0.0'

const FAST = 'resource "terraform_data" "first" {\n  input = "made"\n}\n'
const SLOW = `${FAST}resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "sleep 5"
  }
}\n`

/** A server of its own that is killed and started again on the same data. */
class Killed {
  #program: Program | undefined
  readonly #settings: Record<string, string>
  readonly directory = mkdtempSync(join(tmpdir(), 'plinth-killed-'))
  url = ''

  private constructor(terraform: string, settings: Record<string, string>) {
    const engines = join(this.directory, 'engines')
    slowEngine(engines, VERSION, terraform, { plan: 1 })
    this.#settings = {
      PLINTH_DATA_DIR: this.directory,
      PLINTH_ADMIN_TOKEN: TOKEN,
      PLINTH_RATE_LIMIT: '0',
      PLINTH_ENGINES_DIR: engines,
      ...settings,
    }
  }

  static async start(terraform: string, dialect: Dialect): Promise<Killed> {
    const settings =
      dialect === 'postgres' ? { PLINTH_DATABASE_URL: await createPostgresDatabase() } : undefined
    const killed = new Killed(terraform, settings ?? {})
    await killed.restart()
    return killed
  }

  get client(): Client {
    return new Client(this, TOKEN)
  }

  /** Kills the server, whatever it does, and starts the next. */
  async restart(): Promise<void> {
    await this.#program?.kill()
    this.#program = new Program(this.#settings, await bundledCommand())
    this.url = await this.#program.ready()
  }

  async remove(): Promise<void> {
    await this.#program?.kill()
    rmSync(this.directory, { recursive: true, force: true })
  }
}

describe.each(DIALECTS)('a run whose server is killed, on %s', (dialect) => {
  const withRun = async (
    terraform: string,
    configuration: string,
    work: (server: Killed, workspace: { id: string }) => Promise<void>,
  ) => {
    const server = await Killed.start(terraform, dialect)
    try {
      const { client } = server
      const organization = document('organizations', { name: 'acme', email: 'a@example.com' })
      expectStatus(await client.post('/api/v2/organizations', organization), 201)
      const workspace = await newWorkspace(client, '/api/v2/organizations/acme', {
        'terraform-version': VERSION,
        'auto-apply': true,
      })
      await uploadConfiguration(client, workspace.id, { 'main.tf': configuration })
      await work(server, workspace)
    } finally {
      await server.remove()
    }
  }

  /** Whatever happened to the run before, the workspace is free, and the next run does its work. */
  const expectNextRun = async ({ client }: Killed, workspaceId: string) => {
    const next = await newRun(client, workspaceId)
    await untilRun(client, next.id, ['applied'])
    const { attributes } = (await client.get(`/api/v2/workspaces/${workspaceId}`)).body.data
    expect(attributes.locked).toBe(false)
  }

  describe.concurrent('', () => {
    testWithTerraform(
      'while it waits goes on',
      async (terraform) => {
        await withRun(terraform, FAST, async (server, { id }) => {
          const { client } = server
          await client.post(`/api/v2/workspaces/${id}/actions/lock`, {})
          const run = await newRun(client, id)
          await server.restart()
          expect((await server.client.post(`/api/v2/workspaces/${id}/actions/unlock`)).status).toBe(200)
          await untilRun(server.client, run.id, ['applied'])
        })
      },
      60_000,
    )

    testWithTerraform(
      'during its plan ends errored and says so, and the next one works',
      async (terraform) => {
        await withRun(terraform, FAST, async (server, { id }) => {
          const run = await newRun(server.client, id)
          await untilRun(server.client, run.id, ['planning'])
          await server.restart()
          const ended = await untilRun(server.client, run.id, ['errored'])
          const log = await readLog(server.client, 'plans', ended.relationships.plan.data.id)
          expect(log).toContain('The worker stopped answering during the plan')
          const apply = await server.client.get(`/api/v2/applies/${ended.relationships.apply.data.id}`)
          expect(apply.body.data.attributes.status).toBe('unreachable')
          await expectNextRun(server, id)
        })
      },
      60_000,
    )

    testWithTerraform(
      'while it waits to be confirmed can be confirmed',
      async (terraform) => {
        await withRun(terraform, FAST, async (server, { id }) => {
          const created = await server.client.post('/api/v2/runs', runDocument(id, { 'auto-apply': false }))
          const run = expectStatus(created, 201).body.data
          await untilRun(server.client, run.id, ['planned'])
          await server.restart()
          const forced = await server.client.post(`/api/v2/workspaces/${id}/actions/force-unlock`)
          expect([forced.status, forced.body.errors[0].detail]).toEqual([
            409,
            expect.stringContaining(`is locked by Run ${run.id}`),
          ])
          expect((await server.client.post(`/api/v2/runs/${run.id}/actions/apply`, {})).status).toBe(202)
          await untilRun(server.client, run.id, ['applied'])
        })
      },
      60_000,
    )

    testWithTerraform(
      'during its apply ends errored, and what it had made is not lost',
      async (terraform) => {
        await withRun(terraform, SLOW, async (server, { id }) => {
          const run = await newRun(server.client, id)
          await untilRun(server.client, run.id, ['applying'])
          const applyId = run.relationships.apply.data.id
          const log = () => readLog(server.client, 'applies', applyId)
          await until(async () => (await log()).includes('first: Creation complete') || undefined, log)
          await server.restart()
          await untilRun(server.client, run.id, ['errored'])
          expect(await log()).toContain('The worker stopped answering during the apply')
          // The state of the workspace is the last one that was acknowledged: there was none.
          const state = await server.client.get(`/api/v2/workspaces/${id}/current-state-version`)
          expect(state.status).toBe(404)
          const erroredState = `/api/v2/applies/${applyId}/errored-state`
          const { headers } = await until(async () => {
            const answer = await server.client.get(erroredState)
            return answer.status === 307 ? answer : undefined
          })
          const raw = await (await fetch(headers.get('location') as string)).json()
          expect(JSON.stringify(raw)).toContain('"first"')
          await expectNextRun(server, id)
        })
      },
      60_000,
    )
  })
})
