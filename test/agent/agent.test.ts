import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { newAgentToken, newPool } from '../agents.ts'
import { expectStatus, type TestOrganization, TestServer } from '../harness.ts'
import { Program } from '../program.ts'
import { newWorkspace } from '../resources.ts'
import { newRun, readLog, untilRun, uploadConfiguration } from '../runs.ts'
import { slowEngine } from '../runs-engine.ts'
import { findTerraform, testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'

const AGENT = [process.execPath, 'src/main.ts', 'agent']

/** What the configuration tells of its surroundings: nothing of the agent's may be there. */
const CURIOUS = {
  'main.tf': `
    resource "terraform_data" "spy" {
      provisioner "local-exec" {
        command = "env; tr '\\\\0' '\\\\n' < /proc/self/environ; echo done"
      }
    }
    resource "terraform_data" "kept" {
      input = "one"
    }
    output "kept" {
      value = terraform_data.kept.output
    }
  `,
}

describe('an agent on a machine of its own', () => {
  const { ca, cert, key } = testCertificates()
  const trusted = getCACertificates('default')
  const server = new TestServer('sqlite', {
    PLINTH_TLS_CERT: cert,
    PLINTH_TLS_KEY: key,
    PLINTH_RUN_WORKERS: '0',
  })
  const directories: string[] = []
  const programs: Program[] = []

  beforeAll(async () => {
    setDefaultCACertificates([...trusted, readFileSync(ca, 'utf8')])
    await server.start()
  })

  afterAll(async () => {
    await Promise.all(programs.map((program) => program.kill()))
    await server.stop()
    setDefaultCACertificates(trusted)
    for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  })

  const newDirectory = () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-agent-'))
    directories.push(directory)
    return directory
  }

  /** The agent as a process, once it works. */
  const startAgent = async (token: string, settings: Record<string, string> = {}) => {
    const directory = newDirectory()
    const program = startProgram({ PLINTH_AGENT_TOKEN: token, PLINTH_DATA_DIR: directory, ...settings })
    await expect.poll(() => program.stdout || program.ending, { timeout: 20_000 }).toContain('works for')
    return { program, directory }
  }

  const startProgram = (settings: Record<string, string>) => {
    const path = `${dirname(findTerraform() ?? '')}:${process.env['PATH']}`
    const program = new Program(
      { PATH: path, PLINTH_AGENT_ADDRESS: server.url, PLINTH_AGENT_CA: ca, ...settings },
      AGENT,
    )
    programs.push(program)
    return program
  }

  const start = async (settings: Record<string, string> = {}) => {
    const organization = await server.organization()
    const poolId = await newPool(organization)
    const token = await newAgentToken(organization, poolId)
    return { organization, poolId, token, ...(await startAgent(token.secret, settings)) }
  }

  const inPool = async ({ owner, path }: TestOrganization, poolId: string, files: Record<string, string>) => {
    const attributes = { 'execution-mode': 'agent', 'agent-pool-id': poolId }
    const workspace = await newWorkspace(owner, path, attributes)
    await uploadConfiguration(owner, workspace.id, files)
    return workspace
  }

  const agentsOf = async ({ owner }: TestOrganization, poolId: string) =>
    (await owner.get(`/api/v2/agent-pools/${poolId}/agents`)).body.data.map(
      ({ attributes }: { attributes: { status: string } }) => attributes.status,
    )

  testWithTerraform(
    'plans, applies and destroys by HTTPS only, and leaves nothing behind',
    async () => {
      const { organization, poolId, token, program, directory } = await start({
        PLINTH_AGENT_NAME: 'build-7',
      })
      const { owner } = organization
      expect(server.url).toMatch(/^https:/)
      const workspace = await inPool(organization, poolId, CURIOUS)
      const run = await newRun(owner, workspace.id, { 'auto-apply': true })
      const applied = await untilRun(owner, run.id, ['applied', 'errored'])
      const log = await readLog(owner, 'applies', applied.relationships.apply.data.id)
      expect([applied.attributes.status, log]).toEqual(['applied', expect.stringContaining('done')])
      expect(log).toContain('TFC_RUN_ID')
      for (const secret of [token.secret, 'PLINTH_', ca, directory.replace(/.*\//, 'no')]) {
        expect(log).not.toContain(secret)
      }
      const details = (await owner.get(`/api/v2/applies/${applied.relationships.apply.data.id}`)).body.data
      expect(details.attributes['execution-details']).toMatchObject({
        mode: 'agent',
        'agent-id': expect.stringMatching(/^agent-/),
        'agent-name': 'build-7',
        'agent-pool-id': poolId,
      })
      expect(details.attributes['resource-additions']).toBe(2)
      const current = await owner.get(
        `/api/v2/workspaces/${workspace.id}/current-state-version?include=outputs`,
      )
      expect(current.body.included).toMatchObject([{ attributes: { name: 'kept', value: 'one' } }])

      const destroying = await newRun(owner, workspace.id, { 'auto-apply': true, 'is-destroy': true })
      await untilRun(owner, destroying.id, ['applied'])
      expect(readdirSync(join(directory, 'runs'))).toEqual([])

      program.process.kill('SIGTERM')
      expect(await program.exit()).toBe(0)
      expect(await agentsOf(organization, poolId)).toEqual(['exited'])
      const told = program.stdout + program.stderr + server.logLines.join('')
      expect(told).not.toContain(token.secret)
    },
    90_000,
  )

  testWithTerraform(
    'ends its run when it is told to end, and says so',
    async (terraform) => {
      const engines = newDirectory()
      slowEngine(engines, '1.99.0', terraform, { plan: 60 })
      const { organization, poolId, program } = await start({ PLINTH_ENGINES_DIR: engines })
      const { owner } = organization
      const workspace = await inPool(organization, poolId, CURIOUS)
      const run = await newRun(owner, workspace.id)
      await untilRun(owner, run.id, ['planning'])
      await expect.poll(() => agentsOf(organization, poolId)).toEqual(['busy'])
      program.process.kill('SIGTERM')
      const ended = await untilRun(owner, run.id, ['errored', 'canceled'])
      expect(ended.attributes.status).toBe('errored')
      expect(await program.exit()).toBe(0)
      expect(await agentsOf(organization, poolId)).toEqual(['exited'])
      const unlocked = await owner.get(`/api/v2/workspaces/${workspace.id}`)
      expect(unlocked.body.data.attributes.locked).toBe(false)
    },
    90_000,
  )

  testWithTerraform(
    'that is killed gives its run up within a minute',
    async (terraform) => {
      const engines = newDirectory()
      slowEngine(engines, '1.99.0', terraform, { apply: 120 })
      const { organization, poolId, program } = await start({ PLINTH_ENGINES_DIR: engines })
      const { owner } = organization
      const workspace = await inPool(organization, poolId, CURIOUS)
      const run = await newRun(owner, workspace.id, { 'auto-apply': true })
      await untilRun(owner, run.id, ['applying'])
      await program.kill()
      const ended = await untilRun(owner, run.id, ['errored'], 60_000)
      const log = await readLog(owner, 'applies', ended.relationships.apply.data.id)
      expect(log).toContain('stopped answering')
      const unlocked = await owner.get(`/api/v2/workspaces/${workspace.id}`)
      expect(unlocked.body.data.attributes.locked).toBe(false)
    },
    120_000,
  )

  testWithTerraform(
    'outlives the server',
    async () => {
      const { organization, poolId, program } = await start()
      const { owner } = organization
      const workspace = await inPool(organization, poolId, CURIOUS)
      const { port } = new URL(server.url)
      await server.restart({ PLINTH_LISTEN: `127.0.0.1:${port}` })
      const run = await newRun(owner, workspace.id, { 'auto-apply': true })
      const ended = await untilRun(owner, run.id, ['applied', 'errored'], 60_000)
      expect(ended.attributes.status).toBe('applied')
      expect(program.hasEnded).toBe(false)
    },
    120_000,
  )

  testWithTerraform(
    'brings a state to safety that the server does not accept',
    async () => {
      const { port } = new URL(server.url)
      await server.restart({ PLINTH_LISTEN: `127.0.0.1:${port}`, PLINTH_MAX_STATE_BYTES: '1000' })
      const { organization, poolId } = await start()
      const { owner } = organization
      const workspace = await inPool(organization, poolId, CURIOUS)
      const run = await newRun(owner, workspace.id, { 'auto-apply': true })
      const ended = await untilRun(owner, run.id, ['applied', 'errored'], 60_000)
      expect(ended.attributes.status).toBe('errored')
      const applyId = ended.relationships.apply.data.id
      expect(await readLog(owner, 'applies', applyId)).toContain('PLINTH_MAX_STATE_BYTES')
      const redirect = await owner.get(`/api/v2/applies/${applyId}/errored-state`)
      expect(redirect.status).toBe(307)
      const state = await (await fetch(redirect.headers.get('location') as string)).json()
      expect(state).toMatchObject({ version: 4, outputs: { kept: { value: 'one' } } })
      expect((await owner.get(`/api/v2/workspaces/${workspace.id}/current-state-version`)).status).toBe(404)
      await server.restart({ PLINTH_MAX_STATE_BYTES: '1000000' })
    },
    90_000,
  )

  testWithTerraform(
    'ends after one phase where it is made for one',
    async () => {
      const { organization, poolId, token, program } = await start({ PLINTH_AGENT_SINGLE: 'on' })
      const { owner } = organization
      const workspace = await inPool(organization, poolId, CURIOUS)
      const run = await newRun(owner, workspace.id)
      await untilRun(owner, run.id, ['planned'])
      expect(await program.exit()).toBe(0)
      expectStatus(await owner.post(`/api/v2/runs/${run.id}/actions/apply`), 202)
      const second = await startAgent(token.secret, { PLINTH_AGENT_SINGLE: 'on' })
      await untilRun(owner, run.id, ['applied'])
      expect(await second.program.exit()).toBe(0)
      expect(await agentsOf(organization, poolId)).toEqual(['exited', 'exited'])
    },
    90_000,
  )

  testWithTerraform(
    'does not start without a token of a pool, or where its words could be heard',
    async () => {
      const { owner } = await server.organization()
      for (const [settings, message] of [
        [{ PLINTH_AGENT_TOKEN: 'plinth_none' }, 'does not take the token'],
        [{ PLINTH_AGENT_TOKEN: owner.token as string }, 'not one of a pool of agents'],
        [{ PLINTH_AGENT_ADDRESS: 'http://plinth.example.com' }, 'PLINTH_AGENT_ADDRESS must be the https://'],
        [{ PLINTH_AGENT_TOKEN_FILE: '/none' }, 'PLINTH_AGENT_TOKEN_FILE must be a file'],
        [{ PLINTH_AGENT_TOKEN: 'plinth_none', PLINTH_AGENT_CA: '/none' }, 'PLINTH_AGENT_CA must be a file'],
      ] as const) {
        const program = startProgram({ PLINTH_DATA_DIR: newDirectory(), ...settings })
        expect([message, await program.exit()]).toEqual([message, 1])
        expect(program.stderr).toContain(message)
        expect(program.stderr).not.toContain('plinth_none')
      }
    },
    60_000,
  )

  testWithTerraform(
    'does not trust a server that it has no reason to trust',
    async () => {
      const organization = await server.organization()
      const token = await newAgentToken(organization, await newPool(organization))
      const file = join(newDirectory(), 'token')
      writeFileSync(file, `${token.secret}\n`)
      const settings = { PLINTH_AGENT_TOKEN_FILE: file, PLINTH_AGENT_CA: '', PLINTH_DATA_DIR: newDirectory() }
      const program = startProgram(settings)
      await expect.poll(() => program.stderr, { timeout: 20_000 }).toContain('could not be reached')
      expect(program.stdout).toBe('')
      program.process.kill('SIGTERM')
      expect(await program.exit()).toBe(1)
      const opened = spawnSync('ss', ['-ltnp'], { encoding: 'utf8' }).stdout ?? ''
      expect(opened).not.toContain(`pid=${program.process.pid},`)
    },
    60_000,
  )
})
