import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { CliDirectory, requireProvider } from '../cli/cli.ts'
import { testWithTerraform } from '../terraform.ts'
import { FIXTURE, providerScript } from './pack.ts'
import { findProviders } from './processes.ts'

// How the provider behaves in the hands of the real CLI, which takes it from the directory without a registry.

const SOURCE = 'registry.example.com/test/fixture'

async function directory(binary: string, environment: Record<string, string> = {}) {
  const cli = new CliDirectory(binary, 'registry.example.com', undefined, environment)
  onTestFinished(() => cli.remove())
  // As it is below this repository: the script must not be taken for a module.
  cli.write('package.json', '{ "type": "module" }')
  cli.write(`terraform-provider-${FIXTURE}_v1.0.0`, await providerScript(), 0o755)
  cli.write(
    'cli.tfrc',
    `provider_installation {\n  dev_overrides {\n    "${SOURCE}" = "${cli.path}"\n  }\n}\n`,
  )
  cli.write('versions.tf', requireProvider(SOURCE, '1.0.0', FIXTURE))
  const configure = (resources: string) =>
    cli.write('main.tf', `provider "fixture" {\n  directory = "objects"\n}\n${resources}`)
  return { cli, configure }
}

const file = (name: string, attributes: string) => `resource "fixture_file" "${name}" {\n  ${attributes}\n}\n`

/** Starts an apply that takes a minute; it is at it when this returns. */
async function startSlowApply(cli: CliDirectory) {
  const apply = cli.start('apply', '-auto-approve')
  const { promise: started, resolve, reject } = Promise.withResolvers<void>()
  apply.child.stdout?.on('data', (text: string) => {
    if (text.includes('fixture_slow.it: Creating...')) resolve()
  })
  apply.child.once('exit', () => reject(new Error('the apply ended before it was at work')))
  await started
  return apply
}

const SLOW = 'resource "fixture_slow" "it" {\n  seconds = 60\n}\n'

describe('the fixture provider', () => {
  testWithTerraform('replaces an object, and notices what happens behind its back', async (binary) => {
    const { cli, configure } = await directory(binary)
    configure(`${file('it', 'path = "one"')}resource "fixture_slow" "it" {\n  seconds = 0.1\n}\n`)
    expect((await cli.run('apply', '-auto-approve')).output).toContain('2 added, 0 changed, 0 destroyed')
    expect(await cli.run('plan', '-detailed-exitcode')).toMatchObject({ code: 0 })

    configure(file('it', 'path = "two"'))
    const replaced = await cli.run('apply', '-auto-approve')
    expect(replaced.output).toMatch(/path = "one" -> "two" # forces replacement/)
    expect(replaced.output).toContain('1 added, 0 changed, 2 destroyed')

    cli.write('objects/two.json', JSON.stringify({ path: 'two', content: 'changed', secret: null }))
    const drifted = await cli.run('plan', '-detailed-exitcode', '-refresh-only')
    expect(drifted.output).toContain('+ content = "changed"')
    expect(drifted.code).toBe(2)

    rmSync(join(cli.path, 'objects/two.json'))
    const vanished = await cli.run('plan', '-detailed-exitcode')
    expect(vanished.output).toContain('1 to add, 0 to change, 0 to destroy')
    expect(vanished.code).toBe(2)
  })

  testWithTerraform('reads objects, and keeps their secrets', async (binary) => {
    const { cli, configure } = await directory(binary)
    const read = `data "fixture_file" "it" {\n  path = fixture_file.it.id\n}
      output "digest" {\n  value = data.fixture_file.it.sha256\n}
      output "secret" {\n  value = data.fixture_file.it.secret\n  sensitive = true\n}`
    configure(`${file('it', 'path = "it"\n  content = "Hello"\n  secret = "hunter2"')}${read}`)
    const { code, output } = await cli.run('apply', '-auto-approve')
    expect(code).toBe(0)
    expect(output).toContain('185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969')
    expect(output).not.toContain('hunter2')
    expect((await cli.run('output', '-raw', 'secret')).output).toBe('hunter2')
  })

  testWithTerraform('says what is wrong, and where', async (binary) => {
    const { cli, configure } = await directory(binary)
    const apply = async () => (await cli.run('apply', '-auto-approve')).output
    configure(file('it', 'path = ""'))
    expect(await apply()).toMatch(/Error: Invalid path .* on main.tf line 5, .* It must not be empty/)
    configure(file('it', 'path = "it"') + file('again', 'path = fixture_file.it.path'))
    expect(await apply()).toMatch(/Error: The object already exists .* Import it to manage it/)
    configure('data "fixture_file" "it" {\n  path = "none"\n}\n')
    expect(await apply()).toMatch(/Error: No such object .* There is no object none/)
    configure(file('it', 'path = "none"'))
    await cli.run('state', 'rm', 'fixture_file.it')
    expect((await cli.run('import', 'fixture_file.it', 'none')).output).toContain(
      'non-existent remote object',
    )
  })

  testWithTerraform('stops what it does when Terraform is interrupted', async (binary) => {
    const { cli, configure } = await directory(binary)
    configure(SLOW)
    const { child, result } = await startSlowApply(cli)
    const providers = await findProviders(cli.path)
    expect(providers).toHaveLength(1)
    // As the terminal does it: Ctrl-C reaches them all.
    for (const pid of [...providers, Number(child.pid)]) process.kill(pid, 'SIGINT')
    const { code, output } = await result
    expect(output).toContain('Terraform asked to stop before it was done.')
    expect(code).toBe(1)
    expect(await findProviders(cli.path)).toEqual([])
  })

  testWithTerraform('does not outlive Terraform', async (binary) => {
    const { cli, configure } = await directory(binary)
    configure(SLOW)
    const { child } = await startSlowApply(cli)
    expect(await findProviders(cli.path)).toHaveLength(1)
    child.kill('SIGKILL')
    await expect.poll(() => findProviders(cli.path), { timeout: 5_000 }).toEqual([])
  })

  testWithTerraform('speaks plain text where TLS is not wanted', async (binary) => {
    const { cli, configure } = await directory(binary, { TF_DISABLE_PLUGIN_TLS: '1' })
    configure(file('it', 'path = "it"'))
    expect(await cli.run('apply', '-auto-approve')).toMatchObject({ code: 0 })
  })
})
