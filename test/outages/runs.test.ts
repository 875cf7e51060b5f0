import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { DIALECTS, type Dialect, type TestOrganization } from '../harness.ts'
import { hasPostgres } from '../postgres-cluster.ts'
import { newVariable, newWorkspace } from '../resources.ts'
import { newRun, readLog, until, untilRun, uploadConfiguration } from '../runs.ts'
import { watchedEngine } from '../runs-engine.ts'
import { testWithTerraform } from '../terraform.ts'
import { type Outage, openWithOutage } from './outage.ts'

const VERSION = '1.0.0'

/** How long the outage goes on while a state is tried to be saved: longer than one attempt, and less than all. */
const SHORT_MS = 6_000

const FILES = {
  'main.tf': `resource "terraform_data" "a" {
  input = "one"
  provisioner "local-exec" {
    command = "echo made; [ -z \\"$APPLY_GATE\\" ] || until [ -e \\"$APPLY_GATE\\" ]; do sleep 0.05; done"
  }
}\n`,
}

const WAIT_IN_PLAN =
  '[ $command != plan ] || [ -z "$PLAN_GATE" ] || until [ -e "$PLAN_GATE" ]; do touch "$PLAN_GATE.reached"; sleep 0.05; done'

const TELL_APPLIED = '[ $command != apply ] || touch "$APPLY_GATE.over"'

/** A run that waits in one of its phases until it is told to go on. */
interface HeldRun {
  id: string
  workspaceId: string
  planId: string
  applyId: string
  reached: () => Promise<unknown>
  goOn: () => void
  /** Resolves when the engine has applied. */
  applied: () => Promise<unknown>
}

class Scene {
  readonly outage: Outage
  readonly directory: string
  readonly organization: TestOrganization

  private constructor(outage: Outage, directory: string, organization: TestOrganization) {
    this.outage = outage
    this.directory = directory
    this.organization = organization
  }

  static async open(dialect: Dialect, terraform: string): Promise<Scene> {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-outage-'))
    watchedEngine(join(directory, 'engines'), VERSION, terraform)
    const outage = await openWithOutage(dialect, {
      PLINTH_ENGINES_DIR: join(directory, 'engines'),
      PLINTH_RUN_WORKERS: '3',
      PLINTH_SANDBOX: 'none',
    })
    return new Scene(outage, directory, await outage.server.organization())
  }

  async close(): Promise<void> {
    await this.outage.close()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** A run that applies by itself, once it has been let through its gate. */
  async hold(phase: 'plan' | 'apply'): Promise<HeldRun> {
    const { owner, path } = this.organization
    const { id: workspaceId } = await newWorkspace(owner, path, { 'terraform-version': VERSION })
    const gate = join(this.directory, workspaceId)
    const variables = { BEFORE: WAIT_IN_PLAN, AFTER: TELL_APPLIED, [`${phase.toUpperCase()}_GATE`]: gate }
    for (const [key, value] of Object.entries(variables))
      await newVariable(owner, workspaceId, { key, value, category: 'env' })
    await uploadConfiguration(owner, workspaceId, FILES)
    const { id, relationships } = await newRun(owner, workspaceId, { 'auto-apply': true })
    const [planId, applyId] = [relationships.plan.data.id, relationships.apply.data.id]
    const log = () => readLog(owner, 'applies', applyId)
    const isReached = async () =>
      phase === 'plan' ? existsSync(`${gate}.reached`) : (await log()).includes('made')
    return {
      ...{ id, workspaceId, planId, applyId },
      reached: () =>
        until(
          async () => (await isReached()) || undefined,
          () => `run ${id} to reach its ${phase}`,
        ),
      goOn: () => writeFileSync(gate, ''),
      applied: () => until(() => existsSync(`${gate}.over`) || undefined),
    }
  }

  async isLocked(workspaceId: string): Promise<boolean> {
    const { owner } = this.organization
    return (await owner.get(`/api/v2/workspaces/${workspaceId}`)).body.data.attributes.locked
  }

  /** The raw state of a workspace, if it has one. */
  async stateOf(workspaceId: string): Promise<string | undefined> {
    const { owner } = this.organization
    const current = await owner.get(`/api/v2/workspaces/${workspaceId}/current-state-version`)
    if (current.status === 404) return undefined
    return (await fetch(current.body.data.attributes['hosted-state-download-url'])).text()
  }

  /** Whatever happened before, the workspace is free, and the next run does its work. */
  async expectNextRun(workspaceId: string): Promise<void> {
    const { owner } = this.organization
    await until(async () => !(await this.isLocked(workspaceId)) || undefined)
    const next = await newRun(owner, workspaceId, {
      'auto-apply': true,
      'replace-addrs': ['terraform_data.a'],
    })
    const { attributes } = await untilRun(owner, next.id, ['applied', 'errored'])
    expect(attributes.status).toBe('applied')
    expect(await this.stateOf(workspaceId)).toContain('"one"')
    expect(await this.isLocked(workspaceId)).toBe(false)
  }
}

describe.concurrent('runs whose database goes away and comes back', () => {
  for (const dialect of DIALECTS) {
    describe.skipIf(dialect === 'postgres' && !hasPostgres())(`on ${dialect}`, () => {
      testWithTerraform(
        'save their state if it comes back in time, keep it apart otherwise, and all of them end',
        async (terraform) => {
          const scene = await Scene.open(dialect, terraform)
          try {
            await goThroughOutage(scene)
          } finally {
            await scene.close()
          }
        },
        120_000,
      )
    })
  }
})

async function goThroughOutage(scene: Scene): Promise<void> {
  const { server, begin, end } = scene.outage
  const { owner } = scene.organization
  const [early, late, planned] = await Promise.all([
    scene.hold('apply'),
    scene.hold('apply'),
    scene.hold('plan'),
  ])
  const runs = [early, late, planned]
  await Promise.all(runs.map(({ reached }) => reached()))

  await begin()
  early.goOn()
  const kept = ({ applyId }: HeldRun) => join(server.dataDir, 'blobs', 'errored-states', applyId)
  await until(() => existsSync(kept(early)) || undefined)
  late.goOn()
  planned.goOn()
  await late.applied()
  await sleep(SHORT_MS)
  await end()

  const [ended, saved, finished] = await Promise.all(
    runs.map(({ id }) => untilRun(owner, id, ['applied', 'errored'])),
  )
  expect(ended.attributes.status).toBe('errored')
  const { attributes } = (await owner.get(`/api/v2/applies/${early.applyId}`)).body.data
  expect(attributes).toMatchObject({ status: 'errored', 'resource-additions': 1 })
  expect(attributes.error).toMatch(
    /^The state could not be saved: The database .* It is kept as the errored state/,
  )
  expect(await readLog(owner, 'applies', early.applyId)).toContain(attributes.error)
  expect(await scene.stateOf(early.workspaceId)).toBeUndefined()
  const redirect = await owner.get(`/api/v2/applies/${early.applyId}/errored-state`)
  expect(redirect.status).toBe(307)
  const state = await (await fetch(redirect.headers.get('location') as string)).json()
  expect(state).toMatchObject({ version: 4, resources: [{ type: 'terraform_data', name: 'a' }] })

  expect(saved.attributes.status).toBe('applied')
  expect(await scene.stateOf(late.workspaceId)).toContain('"one"')
  expect(await readLog(owner, 'applies', late.applyId)).toContain('Apply complete! Resources: 1 added')
  expect(finished.attributes.status).toBe('applied')
  expect(await readLog(owner, 'plans', planned.planId)).toContain('Plan: 1 to add')
  for (const run of [late, planned]) expect(existsSync(kept(run))).toBe(false)
  await Promise.all(runs.map(({ workspaceId }) => scene.expectNextRun(workspaceId)))
}
