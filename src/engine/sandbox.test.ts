import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { requireProvider } from '../../test/cli/cli.ts'
import { Bench, temporaryDirectory } from '../../test/engine/bench.ts'
import { packProvider } from '../../test/provider/pack.ts'
import { findTerraform } from '../../test/terraform.ts'
import { PLATFORM } from './platform.ts'
import type { RunnerOptions } from './runner.ts'
import { chooseSandbox, SandboxError } from './sandbox.ts'

const terraform = findTerraform()
const works = chooseSandbox('auto') === 'bwrap'
const missing = [
  ...(terraform ? [] : ['no terraform or tofu']),
  ...(works ? [] : ['no bwrap that works here']),
]

function testInSandbox(name: string, run: (terraform: string) => Promise<void>): void {
  const options = { meta: { needs: `that need bubblewrap: ${missing.join(', ')}` } }
  test.skipIf(missing.length > 0)(name, options, () => run(terraform as string))
}

/** A configuration that runs a program. */
const running = (command: string) => ({
  'main.tf': `resource "terraform_data" "first" {}\nresource "terraform_data" "it" {
    input = terraform_data.first.id
    provisioner "local-exec" {
      command = ${JSON.stringify(command)}
    }
  }\n`,
})

async function startBench(binary: string, options: Partial<RunnerOptions> = {}) {
  const bench = new Bench()
  await bench.start(binary, { sandbox: 'bwrap', ...options })
  return bench
}

test('a sandbox that is not wanted is not used, and one that cannot be had is an error', () => {
  expect(chooseSandbox('none')).toBe('none')
  if (works) expect(chooseSandbox('bwrap')).toBe('bwrap')
  else expect(() => chooseSandbox('bwrap')).toThrow(SandboxError)
})

describe('in the sandbox', () => {
  testInSandbox('a run sees the system and its own directory, and no more', async (binary) => {
    const bench = await startBench(binary)
    const secret = join(bench.path, 'secret')
    writeFileSync(secret, 'of the server')
    mkdirSync(join(bench.workDir, 'run-other'), { recursive: true })
    const look = [
      `cat ${secret}; ls ${bench.workDir}; echo processes: $(ls /proc | grep -c '^[0-9]')`,
      `touch /usr/x; touch /etc/x; touch ${bench.path}/plugin-cache/x; touch here && echo wrote here`,
      'cat /etc/shadow; echo tmp: $(ls -A /tmp); echo host: $(grep -c localhost /etc/hosts)',
    ].join('; ')
    const { run, apply } = await bench.apply(running(look), { run: { structuredOutput: false } })
    const log = run.log('apply')
    expect(apply.status, log).toBe('finished')
    expect(log).not.toContain('of the server\n')
    expect(log).not.toContain('run-other')
    expect(log).toMatch(/processes: \d\n/)
    expect(log).toContain("touch: cannot touch '/usr/x': Read-only file system")
    expect(log).toMatch(/touch: .*plugin-cache\/x': (Read-only|No such)/)
    expect(log).toContain('wrote here')
    expect(log).toMatch(/cat: \/etc\/shadow: No such file/)
    expect(log).toMatch(/host: [1-9]/)
    expect(bench.channel.reports.get(run.execution('apply'))?.sandbox).toBe('bwrap')
  })

  testInSandbox('an apply that is canceled keeps what it has made', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(running('exec sleep 60'))
    await run.plan()
    const outcome = run.apply()
    await expect.poll(() => run.log('apply'), { timeout: 20_000 }).toContain('Provisioning with')
    bench.channel.order(run.execution('apply'), 'cancel')
    expect(await outcome).toMatchObject({ status: 'canceled' })
    expect(run.log('apply')).toContain('Interrupt received')
    expect(bench.channel.state().resources).toHaveLength(2)
  })

  testInSandbox('providers are installed, kept and run', async (binary) => {
    const providersDir = join(temporaryDirectory(), 'providers')
    const place = join(providersDir, 'registry.example.com/test/fixture')
    mkdirSync(place, { recursive: true })
    writeFileSync(
      join(place, `terraform-provider-fixture_1.0.0_${PLATFORM}.zip`),
      await packProvider('1.0.0'),
    )
    // The provider needs the Node.js of the tests, which is no part of the system.
    const environment = { SSL_CERT_DIR: dirname(process.execPath) }
    const bench = await startBench(binary, { providersDir, environment })
    const files = {
      'versions.tf': requireProvider('registry.example.com/test/fixture', '1.0.0', 'fixture'),
      'main.tf':
        'provider "fixture" {\n  directory = "o"\n}\nresource "fixture_file" "it" {\n  path = "it"\n}\n',
    }
    // The first run brings it into the cache, the second one takes it from there.
    for (const _turn of ['first', 'second']) {
      const { run, apply } = await bench.apply(files)
      expect(apply.status, run.log('plan') + run.log('apply')).toBe('finished')
    }
  })

  testInSandbox('nothing outlives a run that is ended by force', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(running('cd / && setsid sleep 61.25 & exec sleep 60'))
    await run.plan()
    const outcome = run.apply()
    await expect.poll(() => run.log('apply'), { timeout: 20_000 }).toContain('Provisioning with')
    const sleeps = () => spawnSync('pgrep', ['-f', '^sleep 61.25']).status === 0
    await expect.poll(sleeps).toBe(true)
    bench.channel.order(run.execution('apply'), 'force')
    expect(await outcome).toMatchObject({ status: 'canceled' })
    expect(bench.channel.state().resources).toHaveLength(1)
    expect(sleeps()).toBe(false)
  })
})
