import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { Bench } from '../../test/engine/bench.ts'
import { testWithTerraform } from '../../test/terraform.ts'
import { LostExecution, StateRefused } from './channel.ts'
import { placesOf } from './directory.ts'

const ONE = { 'main.tf': 'resource "terraform_data" "one" {}\n' }

const nameResources = (state: { resources: { name: string }[] }) => state.resources.map(({ name }) => name)

describe('a state', () => {
  testWithTerraform('that is refused is kept apart, and the apply says so', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    let saves = 0
    bench.channel.onCall = (call) => {
      if (call !== 'saveState') return
      saves++
      throw new StateRefused('it is larger than 256 MB')
    }
    const { run, apply } = await bench.apply(ONE)
    expect(apply).toMatchObject({ status: 'errored', counts: { additions: 1 } })
    expect(apply.error).toMatch(/^The state could not be saved: it is larger than 256 MB\. It is kept as the/)
    expect(run.log('apply')).toContain('It is kept as the errored state of this apply')
    expect(saves).toBe(1)
    expect(nameResources(run.json('errored-state'))).toEqual(['one'])
    expect(bench.channel.state()).toBeUndefined()
    expect(readdirSync(bench.workDir)).toEqual([])
  })

  testWithTerraform('is saved when the server comes back soon', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    let failures = 2
    bench.channel.onCall = (call) => {
      if (call === 'saveState' && failures-- > 0) throw new Error('away')
    }
    const { apply } = await bench.apply(ONE)
    expect(apply.status).toBe('finished')
    expect(nameResources(bench.channel.state())).toEqual(['one'])
  })

  testWithTerraform('is kept apart when the server is away, which hears of it later', async (binary) => {
    const bench = new Bench()
    await bench.start(binary, { saveMs: 500 })
    let away = false
    bench.channel.onCall = (call) => {
      if (call === 'saveState') {
        away = true
        setTimeout(() => {
          away = false
        }, 3_000)
      }
      if (away && call !== 'keepErroredState') throw new Error('away')
    }
    const { run, apply } = await bench.apply(ONE)
    expect(apply.status).toBe('errored')
    expect(nameResources(run.json('errored-state'))).toEqual(['one'])
    expect(run.log('apply')).toContain('Apply complete!')
    expect(run.log('apply')).toContain('The state could not be saved: away')
  })

  testWithTerraform('stays on the machine when there is nobody to take it', async (binary) => {
    const bench = new Bench()
    await bench.start(binary, { keepMs: 300 })
    bench.channel.onCall = (call) => {
      if (call === 'saveState') throw new StateRefused('no')
      if (call === 'keepErroredState') throw new Error('away')
    }
    const { run, apply } = await bench.apply(ONE)
    expect(apply.error).toContain('lost-states')
    const path = join(bench.workDir, 'lost-states', `${run.id}.tfstate`)
    expect(nameResources(JSON.parse(readFileSync(path, 'utf8')))).toEqual(['one'])
    expect(bench.complaints).toContain('a state could only be kept on this machine')
  })

  testWithTerraform('is kept apart when the apply has become another worker’s', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    bench.channel.onCall = (call) => {
      if (call === 'saveState') throw new LostExecution()
    }
    const run = await bench.run(ONE)
    await run.plan()
    run.apply().catch(() => {})
    await expect
      .poll(() => bench.complaints, { timeout: 20_000 })
      .toContain('a run was given to another worker')
    expect(nameResources(run.json('errored-state'))).toEqual(['one'])
  })

  testWithTerraform(
    'of a worker that is killed is kept by the next one, which ends its engine',
    async (binary) => {
      const bench = new Bench()
      const run = await bench.run({
        'main.tf': `${ONE['main.tf']}resource "terraform_data" "two" {
        input = terraform_data.one.id
        provisioner "local-exec" {
          command = "exec sleep 63.25"
        }
      }`,
      })
      const program = fileURLToPath(new URL('../../test/engine/worker.ts', import.meta.url))
      const worker = spawn(process.execPath, [program, bench.path, binary, run.id], { stdio: 'inherit' })
      onTestFinished(() => void worker.kill('SIGKILL'))
      await expect.poll(() => run.log('apply'), { timeout: 20_000 }).toContain('Provisioning with')
      worker.kill('SIGKILL')
      await once(worker, 'exit')
      expect(readdirSync(bench.workDir)).toEqual([run.id])
      await bench.start(binary)
      await expect.poll(() => readdirSync(bench.workDir), { timeout: 20_000 }).toEqual([])
      expect(nameResources(run.json('errored-state'))).toContain('one')
      expect(spawnSync('pgrep', ['-f', '^sleep 63.25']).status).toBe(1)
    },
  )

  testWithTerraform('that a killed worker left is kept by the next one', async (binary) => {
    const bench = new Bench()
    const { root, state } = placesOf(bench.workDir, 'run-left')
    const left = placesOf(bench.workDir, 'run-planning')
    const living = placesOf(bench.workDir, 'run-of-another')
    for (const path of [state, left.root, living.root]) mkdirSync(path, { recursive: true })
    const path = join(state, 'terraform.tfstate')
    writeFileSync(path, '{"serial":7}')
    const assignment = { executionId: 'run-left-apply', run: { id: 'run-left' } }
    // No process has this number.
    const owner = { pid: 2 ** 22 + 1, assignment, state: { path, digest: 'of before' } }
    writeFileSync(join(root, 'owner.json'), JSON.stringify(owner))
    writeFileSync(join(living.root, 'owner.json'), JSON.stringify({ ...owner, pid: process.ppid }))
    await bench.start(binary)
    await expect.poll(() => readdirSync(bench.workDir), { timeout: 10_000 }).toEqual(['run-of-another'])
    expect(bench.channel.json('run-left', 'errored-state')).toEqual({ serial: 7 })
    expect(existsSync(bench.channel.statePath)).toBe(false)
  })
})
