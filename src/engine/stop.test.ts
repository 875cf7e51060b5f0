import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { Bench } from '../../test/engine/bench.ts'
import type { BenchRun } from '../../test/engine/bench-run.ts'
import { testWithTerraform } from '../../test/terraform.ts'

/** Makes one thing, and then works on another for a minute. */
const SLOW = {
  'main.tf': `
    resource "terraform_data" "first" {}
    resource "terraform_data" "second" {
      input = terraform_data.first.id
      provisioner "local-exec" {
        command = "exec sleep 60"
      }
    }
  `,
}

/** A configuration whose plan waits for a server, which answers after a while or never. */
async function slowPlan(answersAfterMs: number | undefined) {
  const server = createServer((_request, response) => {
    if (answersAfterMs !== undefined) setTimeout(() => response.writeHead(404).end(), answersAfterMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const config = `backend = "http"\n  config = { address = "http://127.0.0.1:${port}/" }`
  return { 'main.tf': `data "terraform_remote_state" "slow" {\n  ${config}\n}\n` }
}

/** Queues the slow apply; it is at it when this returns. */
async function startApply(bench: Bench, wish = {}): Promise<{ run: BenchRun; outcome: Promise<unknown> }> {
  const run = await bench.run(SLOW, wish)
  await run.plan()
  const outcome = run.apply()
  await expect.poll(() => run.log('apply'), { timeout: 20_000 }).toContain('Provisioning with')
  return { run, outcome }
}

const resources = (bench: Bench) => bench.channel.state()?.resources.map(({ name }: { name: string }) => name)

async function startBench(binary: string, options: Parameters<Bench['start']>[1] = {}) {
  const bench = new Bench()
  await bench.start(binary, options)
  return bench
}

describe('an apply', () => {
  testWithTerraform('that is canceled keeps what it has made', async (binary) => {
    const bench = await startBench(binary)
    const { run, outcome } = await startApply(bench)
    bench.channel.order(run.execution('apply'), 'cancel')
    expect(await outcome).toMatchObject({ status: 'canceled', counts: { additions: 1 } })
    expect(resources(bench)).toContain('first')
    expect(run.log('apply')).toContain('nterrupt')
    expect(readdirSync(bench.workDir)).toEqual([])
  })

  testWithTerraform('that is ended by force keeps it too', async (binary) => {
    const bench = await startBench(binary)
    const { run, outcome } = await startApply(bench)
    bench.channel.order(run.execution('apply'), 'force')
    expect(await outcome).toMatchObject({ status: 'canceled', counts: { additions: 1 } })
    expect(resources(bench)).toEqual(['first'])
    expect(readdirSync(bench.workDir)).toEqual([])
  })

  testWithTerraform('leaves nothing behind that works on', async (binary) => {
    const bench = await startBench(binary)
    const left = 'setsid sleep 62.25 > /dev/null 2>&1 &'
    const { apply } = await bench.apply({ 'main.tf': SLOW['main.tf'].replace('exec sleep 60', left) })
    expect(apply.status).toBe('finished')
    expect(spawnSync('pgrep', ['-f', '^sleep 62.25']).status).toBe(1)
  })

  testWithTerraform('that takes too long is stopped, and says so', async (binary) => {
    const bench = await startBench(binary)
    const { run, outcome } = await startApply(bench, { assignment: { timeout: 3 } })
    const error = 'the apply was stopped: it took more than 3 seconds'
    expect(await outcome).toMatchObject({ status: 'errored', error })
    expect(resources(bench)).toContain('first')
    expect(run.log('apply')).toContain('The apply was stopped: it took more than 3 seconds')
  })

  testWithTerraform('ends with its worker, which tells why', async (binary) => {
    const bench = await startBench(binary)
    const { run, outcome } = await startApply(bench)
    await bench.stop()
    expect(await outcome).toMatchObject({ status: 'errored', error: 'the worker was stopped' })
    expect(resources(bench)).toContain('first')
    expect(run.log('apply')).toContain('The worker was stopped')
  })

  testWithTerraform('that was given to another worker ends without a word', async (binary) => {
    const bench = await startBench(binary)
    const { run } = await startApply(bench)
    bench.channel.lose(run.execution('apply'))
    await expect.poll(() => readdirSync(bench.workDir), { timeout: 20_000 }).toEqual([])
    expect(bench.channel.state()).toBeUndefined()
    const kept = bench.channel.json(run.id, 'errored-state')
    expect(kept.resources.map(({ name }: { name: string }) => name)).toContain('first')
    expect(bench.complaints).toContain('a run was given to another worker')
  })
})

describe('a plan', () => {
  testWithTerraform('that is canceled ends', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(await slowPlan(2_000))
    const outcome = run.plan()
    await expect.poll(() => run.log('plan'), { timeout: 20_000 }).toContain('terraform_remote_state')
    bench.channel.order(run.execution('plan'), 'cancel')
    expect(await outcome).toEqual({ status: 'canceled' })
  })

  testWithTerraform('that is canceled before it began does not begin', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(await slowPlan(2_000))
    bench.channel.order(run.execution('plan'), 'cancel')
    expect(await run.plan()).toEqual({ status: 'canceled' })
    expect(run.log('plan')).not.toContain('terraform_remote_state')
  })

  testWithTerraform('that does not end when it is asked is killed', async (binary) => {
    const bench = await startBench(binary, { graceMs: 300 })
    const run = await bench.run(await slowPlan(undefined), { assignment: { timeout: 3 } })
    expect(await run.plan()).toMatchObject({ status: 'errored' })
    expect(run.log('plan')).toContain('it took more than 3 seconds')
  })
})
