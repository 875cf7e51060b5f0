import { readdirSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { Bench } from '../../test/engine/bench.ts'
import { testWithTerraform } from '../../test/terraform.ts'

const GREETING = {
  'main.tf': `
    resource "terraform_data" "greeting" {
      input = "hello"
    }
    output "greeting" {
      value = terraform_data.greeting.output
    }
  `,
}

const resource = (name: string, input: string) =>
  `resource "terraform_data" "${name}" {\n  input = "${input}"\n}\n`
const COUNTS = { additions: 0, changes: 0, destructions: 0, imports: 0 }

async function startBench(binary: string) {
  const bench = new Bench()
  await bench.start(binary)
  return bench
}

describe('a run', () => {
  testWithTerraform('is planned and applied, and leaves its state and nothing else', async (binary) => {
    const bench = await startBench(binary)
    const { run, plan, apply } = await bench.apply(GREETING)
    expect(plan).toEqual({
      status: 'finished',
      hasChanges: true,
      generatedConfiguration: false,
      counts: { ...COUNTS, additions: 1 },
    })
    expect(apply).toEqual({ status: 'finished', counts: plan.counts })
    expect(bench.channel.state().outputs.greeting.value).toBe('hello')
    expect(bench.channel.json('workspace', 'json').values.outputs.greeting.value).toBe('hello')
    expect(bench.channel.reports.get(run.execution('plan'))).toEqual({
      terraformVersion: bench.channel.state().terraform_version,
      sandbox: 'none',
    })
    expect(run.json('json-output').planned_values.outputs.greeting.sensitive).toBe(false)
    expect(run.json('json-output-redacted')).toMatchObject({
      plan_format_version: '1.2',
      provider_format_version: '1.0',
      resource_changes: [{ address: 'terraform_data.greeting', change: { actions: ['create'] } }],
      output_changes: { greeting: { actions: ['create'] } },
    })
    const schemas = run.json('json-schema').provider_schemas
    expect(Object.keys(schemas['terraform.io/builtin/terraform'].resource_schemas)).toEqual([
      'terraform_data',
    ])
    expect(readdirSync(bench.workDir)).toEqual([])
    expect(bench.complaints).toEqual([])
  })

  testWithTerraform('has a log of three lines and then events', async (binary) => {
    const bench = await startBench(binary)
    const { run } = await bench.apply(GREETING)
    for (const phase of ['plan', 'apply'] as const) {
      const [version, platform, preparing, ...events] = run.log(phase).trimEnd().split('\n')
      expect(version).toMatch(/^Terraform v\d+\.\d+\.\d+$/)
      expect(platform).toMatch(/^on linux_(amd64|arm64)$/)
      expect(preparing).toBe('Initializing plugins and modules...')
      const types = events.map((line) => JSON.parse(line).type)
      expect(types[0]).toBe('version')
      expect(types).toContain('change_summary')
    }
  })

  testWithTerraform('has a log for people where events are not wanted', async (binary) => {
    const bench = await startBench(binary)
    const { run, apply } = await bench.apply(GREETING, { run: { structuredOutput: false } })
    expect(run.log('plan')).toContain('Plan: 1 to add, 0 to change, 0 to destroy.')
    expect(run.log('apply')).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
    expect(apply.counts).toEqual({ ...COUNTS, additions: 1 })
  })

  testWithTerraform('sees what others have left, and what has changed since', async (binary) => {
    const bench = await startBench(binary)
    await bench.apply({ 'main.tf': resource('one', 'a') + resource('two', 'a') })
    const same = await bench.run({ 'main.tf': resource('one', 'a') + resource('two', 'a') })
    expect(await same.plan()).toMatchObject({ hasChanges: false, counts: COUNTS })
    const { plan, apply } = await bench.apply({ 'main.tf': resource('one', 'b') + resource('three', 'a') })
    const counts = { additions: 1, changes: 1, destructions: 1, imports: 0 }
    expect([plan.counts, apply.counts]).toEqual([counts, counts])
    expect(bench.channel.state().resources).toHaveLength(2)
  })

  testWithTerraform('destroys, with and without a configuration', async (binary) => {
    const bench = await startBench(binary)
    await bench.apply(GREETING)
    const wish = { run: { isDestroy: true } }
    const { apply } = await bench.apply(GREETING, wish)
    expect(apply).toEqual({ status: 'finished', counts: { ...COUNTS, destructions: 1 } })
    expect(bench.channel.state().resources).toEqual([])
    await bench.apply(GREETING)
    const empty = await bench.apply({}, wish)
    expect(empty.apply).toEqual({ status: 'finished', counts: { ...COUNTS, destructions: 1 } })
  })

  testWithTerraform('keeps to its targets, and replaces what it is told', async (binary) => {
    const bench = await startBench(binary)
    const both = { 'main.tf': resource('one', 'a') + resource('two', 'a') }
    const targeted = await bench.apply(both, { run: { targetAddrs: ['terraform_data.two'] } })
    expect(targeted.apply.counts).toEqual({ ...COUNTS, additions: 1 })
    const replaced = await bench.apply(both, { run: { replaceAddrs: ['terraform_data.two'] } })
    expect(replaced.plan.counts).toEqual({ ...COUNTS, additions: 2, destructions: 1 })
    expect(replaced.apply.counts).toEqual({ ...COUNTS, additions: 2, destructions: 1 })
  })

  testWithTerraform('only refreshes when nothing else is wanted', async (binary) => {
    const bench = await startBench(binary)
    await bench.apply(GREETING)
    const changed = { 'main.tf': GREETING['main.tf'].replace('hello', 'good bye') }
    const run = await bench.run(changed, { run: { refreshOnly: true } })
    expect(await run.plan()).toMatchObject({ status: 'finished', counts: COUNTS })
  })

  testWithTerraform('is not of the backend that its configuration names', async (binary) => {
    const bench = await startBench(binary)
    const cloud = 'terraform {\n  cloud {\n    organization = "x"\n    workspaces { name = "y" }\n  }\n}\n'
    const name = 'output "workspace" {\n  value = terraform.workspace\n}\n'
    for (const override of ['override.tf', 'zzzzzz_override.tf', '~~~~~_override.tf.json']) {
      const text = override.endsWith('json')
        ? '{"terraform":{"backend":{"s3":{"bucket":"b","key":"k","region":"r"}}}}'
        : cloud
      const { apply } = await bench.apply({
        'main.tf': `terraform {\n  backend "s3" {}\n}\n${name}`,
        [override]: text,
        'terraform.tfstate': 'not a state',
        '.terraform/terraform.tfstate': 'not a state',
        '.terraform/environment': 'elsewhere',
      })
      expect(apply.status).toBe('finished')
      expect(bench.channel.state().outputs.workspace.value).toBe('network')
    }
  })

  testWithTerraform('works in the directory of the workspace', async (binary) => {
    const bench = await startBench(binary)
    const workspace = { id: 'ws-1', name: 'default', workingDirectory: 'live/eu' }
    const files = { 'live/eu/main.tf': GREETING['main.tf'], 'main.tf': 'not a configuration' }
    const { apply } = await bench.apply(files, { assignment: { workspace } })
    expect(apply.status).toBe('finished')
    const astray = { ...workspace, workingDirectory: 'live/us' }
    const run = await bench.run(files, { assignment: { workspace: astray } })
    expect(await run.plan()).toEqual({
      status: 'errored',
      error: 'the configuration cannot be used: it has no directory "live/us"',
    })
    expect(run.log('plan')).toContain('The configuration cannot be used')
  })

  testWithTerraform('may write configuration for what it imports', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(
      { 'main.tf': 'import {\n  to = terraform_data.found\n  id = "x"\n}\n' },
      { run: { allowConfigGeneration: true } },
    )
    expect(await run.plan()).toMatchObject({
      status: 'finished',
      generatedConfiguration: true,
      hasChanges: true,
    })
    expect(run.json('json-output-redacted').resource_changes[0].change.generated_config).toContain(
      'terraform_data',
    )
  })
})

describe('a run that fails', () => {
  testWithTerraform('says why, in its log and in one sentence', async (binary) => {
    const bench = await startBench(binary)
    for (const structuredOutput of [true, false]) {
      const invalid = await bench.run(
        { 'main.tf': 'output "x" {\n  value = nothing.here\n}\n' },
        { run: { structuredOutput } },
      )
      expect(await invalid.plan()).toMatchObject({
        status: 'errored',
        error: 'the plan failed: Reference to undeclared resource',
      })
      expect(invalid.log('plan')).toContain('Reference to undeclared resource')
    }
    const unparsed = await bench.run({ 'main.tf': 'resource {' })
    expect(await unparsed.plan()).toEqual({
      status: 'errored',
      error: 'init failed: Unclosed configuration block',
    })
    expect(unparsed.log('plan')).toContain('There is no closing brace')
    expect(readdirSync(bench.workDir)).toEqual([])
  })

  testWithTerraform('keeps what was made until then', async (binary) => {
    const bench = await startBench(binary)
    const broken = `${resource('one', 'a')}resource "terraform_data" "two" {
      input = terraform_data.one.id
      provisioner "local-exec" {
        command = "exit 3"
      }
    }\n`
    const { plan, apply } = await bench.apply({ 'main.tf': broken })
    expect(plan.status).toBe('finished')
    expect(apply).toEqual({
      status: 'errored',
      error: 'the apply failed: local-exec provisioner error',
      counts: { ...COUNTS, additions: 1 },
    })
    const { resources } = bench.channel.state()
    expect(resources).toHaveLength(2)
    expect(resources[1].instances[0].status).toBe('tainted')
  })

  testWithTerraform('tells so no earlier than clients can have seen it', async (binary) => {
    const bench = await startBench(binary)
    const until = Date.now() + 2_000
    const holdFailureUntil = new Date(until).toISOString()
    const run = await bench.run({ 'main.tf': 'resource {' }, { assignment: { holdFailureUntil } })
    await run.plan()
    expect(Date.now()).toBeGreaterThanOrEqual(until)
  })

  testWithTerraform('does so for a version that is not there', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(GREETING, { assignment: { terraformVersion: '0.11.14' } })
    const { status, error } = await run.plan()
    expect(status).toBe('errored')
    expect(error).toMatch(/^engine version 0\.11\.14 is not available; here are \d+\.\d+\.\d+\. Put it into/)
    expect(run.log('plan').split('\n').slice(0, 3)).toEqual([
      'Terraform',
      expect.stringMatching(/^on linux_/),
      'Initializing plugins and modules...',
    ])
  })

  testWithTerraform('does so for an archive that is none', async (binary) => {
    const bench = await startBench(binary)
    const run = await bench.run(GREETING)
    await run.upload(Buffer.from('not a slug'))
    expect(await run.plan()).toEqual({
      status: 'errored',
      error: 'the configuration cannot be used: it is not a whole gzip tar archive',
    })
  })
})
