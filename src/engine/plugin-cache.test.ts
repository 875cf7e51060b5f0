import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect } from 'vitest'
import { requireProvider } from '../../test/cli/cli.ts'
import { Bench, type Files, makeSlug } from '../../test/engine/bench.ts'
import { onEachDialect } from '../../test/harness.ts'
import { FIXTURE, packProvider } from '../../test/provider/pack.ts'
import { publish } from '../../test/registry.ts'
import { testWithTerraform } from '../../test/terraform.ts'
import { PLATFORM } from './platform.ts'
import type { RunnerOptions } from './runner.ts'

const SOURCE = 'registry.example.com/test/fixture'
const PACKAGE = `${SOURCE}/1.0.0/${PLATFORM}`

const configure = (source = SOURCE) => ({
  'versions.tf': requireProvider(source, '1.0.0', FIXTURE),
  'main.tf': `provider "fixture" {\n  directory = "objects"\n}\nresource "fixture_file" "it" {\n  path = "it"\n}\n`,
})

let archive: Buffer

beforeAll(async () => {
  archive = await packProvider('1.0.0')
})

/** A worker that has the provider in a directory of the operator's. */
async function startBench(binary: string, options: Partial<RunnerOptions> = {}) {
  const bench = new Bench()
  const providersDir = join(bench.path, 'providers')
  mkdirSync(join(providersDir, SOURCE), { recursive: true })
  writeFileSync(join(providersDir, SOURCE, `terraform-provider-${FIXTURE}_1.0.0_${PLATFORM}.zip`), archive)
  await bench.start(binary, { providersDir, ...options })
  return { bench, cache: join(bench.path, 'plugin-cache') }
}

describe('providers', () => {
  testWithTerraform('are kept once, however many runs install them at the same moment', async (binary) => {
    const { bench, cache } = await startBench(binary, { workers: 4 })
    const runs = await Promise.all(Array.from({ length: 4 }, () => bench.run(configure())))
    const outcomes = await Promise.all(runs.map((run) => run.plan()))
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('finished'))
    expect(readdirSync(join(cache, PACKAGE))).toEqual([`terraform-provider-${FIXTURE}_v1.0.0`])
    expect(readdirSync(join(cache, '.staged'))).toEqual([])
  })

  testWithTerraform('come from the others’ cache, and work in both phases', async (binary) => {
    const { bench, cache } = await startBench(binary)
    expect((await bench.apply(configure())).apply.status).toBe('finished')
    // A sign that nobody but the cache can have given.
    writeFileSync(join(cache, PACKAGE, 'sign'), '')
    const { 'main.tf': main, ...versions } = configure()
    const look = `${main}resource "terraform_data" "look" {
      provisioner "local-exec" {
        command = "ls .terraform/providers/${PACKAGE}/"
      }
    }\n`
    const { run, apply } = await bench.apply({ ...versions, 'main.tf': look })
    expect(apply.status).toBe('finished')
    expect(run.log('apply')).toContain('(local-exec): sign')
  })

  testWithTerraform('are not taken from a run that may have planted them', async (binary) => {
    const { bench, cache } = await startBench(binary, { providersDir: undefined })
    const bundled = { ...configure() }
    const slug = await bench.run(bundled)
    await slug.upload(await withBundled(bundled))
    expect(await slug.plan()).toMatchObject({ status: 'finished' })
    expect(existsSync(join(cache, SOURCE))).toBe(false)

    const other = await startBench(binary)
    const variable = { key: 'https_proxy', value: 'http://127.0.0.1:1', hcl: false, sensitive: false }
    const misled = await other.bench.run(configure(), { assignment: { environmentVariables: [variable] } })
    expect(await misled.plan()).toMatchObject({ status: 'finished' })
    expect(existsSync(join(other.cache, SOURCE))).toBe(false)
  })
})

async function withBundled(files: Files): Promise<Buffer> {
  const name = `terraform.d/plugins/${SOURCE}/terraform-provider-${FIXTURE}_1.0.0_${PLATFORM}.zip`
  return makeSlug({ ...files, [name]: archive })
}

onEachDialect('the registry of the platform', (server) => {
  testWithTerraform('is reached from a run, by the token of the run alone', async (binary) => {
    const organization = await server.organization()
    const { owner, name } = organization
    await publish(organization, FIXTURE, '1.0.0', { platforms: [PLATFORM], archive })
    const bench = new Bench()
    await bench.start(binary)
    const files = configure(`${new URL(server.url).host}/${name}/${FIXTURE}`)
    const wish = (token: string) => ({ assignment: { serverUrl: server.url, token } })
    const { run, apply } = await bench.apply(files, wish(owner.token ?? ''))
    expect(apply, run.log('plan')).toMatchObject({ status: 'finished' })
    const stranger = await bench.run(files, wish('plinth_of-nobody'))
    expect(await stranger.plan()).toMatchObject({
      status: 'errored',
      error: expect.stringMatching(/^init failed/),
    })
  })
})
