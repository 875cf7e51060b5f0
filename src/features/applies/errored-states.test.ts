import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, vi } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../../../test/harness.ts'
import { newVariable, newWorkspace } from '../../../test/resources.ts'
import { newRun, readLog, untilRun, uploadConfiguration } from '../../../test/runs.ts'
import { watchedEngine } from '../../../test/runs-engine.ts'
import { findTerraform, testWithTerraform } from '../../../test/terraform.ts'

const VERSION = '1.0.0'

/** Bytes that a small state has room in, and the large one has not. */
const LIMIT = 3_000

const small = (input: string) => ({ 'main.tf': `resource "terraform_data" "a" {\n  input = "${input}"\n}\n` })
const LARGE = {
  'main.tf': `resource "terraform_data" "a" {\n  input = join(", ", range(1000))\n}\n`,
}

const directory = mkdtempSync(join(tmpdir(), 'plinth-errored-'))
const engines = join(directory, 'engines')
watchedEngine(engines, VERSION, findTerraform() ?? 'terraform')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

onEachDialect(
  'errored states',
  (server) => {
    const carryOut = async (client: Client, workspaceId: string, files: Record<string, string>) => {
      await uploadConfiguration(client, workspaceId, files)
      const run = await newRun(client, workspaceId, { 'auto-apply': true })
      return untilRun(client, run.id, ['applied', 'errored'])
    }

    testWithTerraform('are kept apart, byte by byte, for a minute at a time', async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = await newWorkspace(owner, path, { 'terraform-version': VERSION })
      const written = join(directory, `${workspace.id}.tfstate`)
      const copy = `[ $command != apply ] || cp "$(find "$HOME/../state" -name terraform.tfstate)" ${written}`
      await newVariable(owner, workspace.id, { key: 'AFTER', value: copy, category: 'env' })
      const currentOf = async () => {
        const current = await owner.get(`/api/v2/workspaces/${workspace.id}/current-state-version`)
        const { id, attributes } = expectStatus(current, 200).body.data
        const state = await fetch(attributes['hosted-state-download-url'])
        return { id, serial: attributes.serial, state: await state.text() }
      }

      const applied = await carryOut(owner, workspace.id, small('one'))
      expect(applied.attributes.status).toBe('applied')
      const erroredStateOf = (applyId: string) => `/api/v2/applies/${applyId}/errored-state`
      expect((await owner.get(erroredStateOf(applied.relationships.apply.data.id))).status).toBe(404)
      const before = await currentOf()

      const ended = await carryOut(owner, workspace.id, LARGE)
      const applyId = ended.relationships.apply.data.id
      const apply = (await owner.get(`/api/v2/applies/${applyId}`)).body.data.attributes
      expect([ended.attributes.status, apply.status, apply.error]).toEqual([
        'errored',
        'errored',
        `The state could not be saved: The state is larger than ${LIMIT} bytes (PLINTH_MAX_STATE_BYTES). It is kept as the errored state of this apply, and can be fetched there`,
      ])
      expect(await readLog(owner, 'applies', applyId)).toContain(apply.error)
      expect(await currentOf()).toEqual(before)
      expect((await owner.get(`/api/v2/workspaces/${workspace.id}`)).body.data.attributes.locked).toBe(false)

      const erroredState = erroredStateOf(applyId)
      const [first, second] = [await owner.get(erroredState), await owner.get(erroredState)]
      expect(first.headers.get('location')).not.toBe(second.headers.get('location'))
      const bytes = readFileSync(written)
      expect(bytes.length).toBeGreaterThan(LIMIT)
      for (const { status, headers } of [first, second]) {
        expect([status, headers.get('content-type')]).toEqual([307, expect.stringMatching(/^text\/plain\b/)])
        const state = await fetch(headers.get('location') as string)
        expect([state.status, Buffer.from(await state.arrayBuffer()).equals(bytes)]).toEqual([200, true])
      }

      const stranger = await server.user()
      const member = await server.member(organization)
      for (const client of [stranger, member]) expect((await client.get(erroredState)).status).toBe(404)
      expect((await server.nobody.get(erroredState)).status).toBe(401)
      const reader = await server.member(organization, ['read-workspaces'])
      expect((await reader.get(erroredState)).status).toBe(307)

      const next = await carryOut(owner, workspace.id, small('two'))
      expect(next.attributes.status).toBe('applied')
      expect((await currentOf()).serial).toBeGreaterThan(before.serial)
      expect((await owner.get(erroredState)).status).toBe(307)

      await expectOneMinute(owner, erroredState)
    })

    /** Moves the clock of this process, in which the server runs; nothing else is under way. */
    const expectOneMinute = async (owner: Client, erroredState: string) => {
      const start = Math.ceil(Date.now() / 1000) * 1000
      const at = (ms: number) => vi.setSystemTime(start + ms)
      try {
        at(0)
        const link = (await owner.get(erroredState)).headers.get('location') as string
        at(59_000)
        expect((await fetch(link)).status).toBe(200)
        at(60_000)
        expect((await fetch(link)).status).toBe(404)
        const another = (await owner.get(erroredState)).headers.get('location') as string
        expect(another).not.toBe(link)
        expect((await fetch(another)).status).toBe(200)
      } finally {
        vi.useRealTimers()
      }
    }
  },
  {
    PLINTH_MAX_STATE_BYTES: String(LIMIT),
    PLINTH_ENGINES_DIR: engines,
    PLINTH_SANDBOX: 'none',
    PLINTH_RUN_WORKERS: '2',
  },
)
