import { chmodSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestOrganization } from '../harness.ts'
import { createPlatform, createVersion, publish, sha256 } from '../registry.ts'
import { callPlinth, environmentOf } from './plinth.ts'
import { makeDirectory } from './releases.ts'

/** A module with all kinds of files. */
function writeModule(files: Record<string, string> = {}): string {
  const directory = join(makeDirectory(), 'terraform-aws-vpc')
  const all = {
    'main.tf': 'variable "name" {\n  type = string\n}\n',
    'modules/inner/main.tf': 'output "it" {\n  value = 1\n}\n',
    'scripts/run.sh': '#!/bin/sh\n',
    'notes/private.txt': 'not for others\n',
    '.terraformignore': 'notes/\n*.bak\n!keep.bak\n',
    'old.bak': 'old',
    'keep.bak': 'kept',
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.terraform/providers/x': 'x',
    ...files,
  }
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  chmodSync(join(directory, 'scripts/run.sh'), 0o755)
  symlinkSync('modules/inner/main.tf', join(directory, 'link.txt'))
  return directory
}

onEachDialect('plinth', (server) => {
  const call = async ({ name, owner }: TestOrganization, ...args: string[]) => {
    const { code, stdout, stderr } = await callPlinth(
      [...args, '--organization', name, '--json'],
      environmentOf(server, owner.token),
    )
    expect(stderr).toBe('')
    return { code, body: JSON.parse(stdout) }
  }
  const print = ({ name, owner }: TestOrganization, ...args: string[]) =>
    callPlinth([...args, '--organization', name], environmentOf(server, owner.token))

  test('provider deprecate, revoke and restore lead a version through its life', async () => {
    const organization = await server.organization()
    const { path } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    const said = ['--reason', 'It leaks; use 1.0.1.', '--link', 'https://example.com/7']
    const deprecated = await call(organization, 'provider', 'deprecate', 'demo', '1.0.0', ...said)
    expect(deprecated).toEqual({ code: 0, body: { name: 'demo', version: '1.0.0', status: 'deprecated' } })
    const shown = await organization.owner.get(`${path}/versions/1.0.0`)
    expect(shown.body.data.attributes.deprecation).toMatchObject({
      reason: 'It leaks; use 1.0.1.',
      link: 'https://example.com/7',
    })
    const revoked = await print(organization, 'provider', 'revoke', 'demo', '1.0.0')
    expect(revoked).toEqual({
      code: 0,
      stderr: '',
      stdout: 'demo 1.0.0 is revoked: nobody can install it.\n',
    })
    expect((await call(organization, 'provider', 'restore', 'demo', '1.0.0')).body.status).toBe('deprecated')
    expect((await call(organization, 'provider', 'restore', 'demo', '1.0.0')).body.status).toBe('published')
    const missing = await call(organization, 'provider', 'revoke', 'demo', '9.9.9')
    expect(missing).toMatchObject({ code: 4, body: { error: { kind: 'access' } } })
    const invalid = await call(organization, 'provider', 'deprecate', 'demo', '1.0.0', '--link', 'no link')
    expect(invalid.code).toBe(3)
    expect(invalid.body.error.details.join()).toContain('(/data/attributes/deprecation/link)')
  })

  test('provider status tells what is missing', async () => {
    const organization = await server.organization()
    const { path, key } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    const whole = await call(organization, 'provider', 'status', 'demo', '1.0.0')
    expect(whole.body).toMatchObject({ status: 'published', installable: true, problems: [] })
    expect(whole.body.files).toHaveLength(3)
    await createVersion(organization.owner, path, '1.1.0', key)
    const filename = 'terraform-provider-demo_1.1.0_linux_amd64.zip'
    await createPlatform(organization.owner, path, '1.1.0', {
      os: 'linux',
      arch: 'amd64',
      filename,
      shasum: sha256('x'),
    })
    const { stdout } = await print(organization, 'provider', 'status', 'demo', '1.1.0')
    expect(stdout).toContain('demo 1.1.0 is draft; nobody can install it.\n')
    expect(stdout).toContain(`  missing   ${filename}\n`)
    expect(stdout).toMatch(/problem: .*\n {2}fix: /)
    expect((await call(organization, 'provider', 'status', 'demo', '9.9.9')).code).toBe(4)
  })

  test('module publish packs a directory, and publishes it once', async () => {
    const organization = await server.organization()
    const directory = writeModule()
    const publishing = ['module', 'publish', directory, '--version', 'v1.2.3']
    const files = [
      '.terraformignore',
      'keep.bak',
      'link.txt',
      'main.tf',
      'modules/inner/main.tf',
      'scripts/run.sh',
    ]
    const dry = await callPlinth([...publishing, '--dry-run', '--json'], {})
    expect(JSON.parse(dry.stdout)).toMatchObject({ status: 'dry-run', name: 'vpc', provider: 'aws', files })

    const host = new URL(server.url).host
    const first = await call(organization, ...publishing, '--commit', 'abc123')
    expect(first.body).toEqual({
      status: 'published',
      source: `${host}/${organization.name}/vpc/aws`,
      name: 'vpc',
      provider: 'aws',
      version: '1.2.3',
      files,
      findings: [],
      created: { module: true, version: true },
      usage: `module "vpc" {\n  source  = "${host}/${organization.name}/vpc/aws"\n  version = "1.2.3"\n}`,
    })
    const member = `${organization.path}/registry-modules/private/${organization.name}/vpc/aws/1.2.3`
    const shown = await organization.owner.get(member)
    expect(shown.body.data.attributes).toMatchObject({ status: 'ok', 'commit-sha': 'abc123' })

    // When files were touched is no part of the contents.
    utimesSync(join(directory, 'main.tf'), new Date(0), new Date(0))
    const again = await call(organization, ...publishing)
    expect(again).toMatchObject({ code: 0, body: { status: 'already-published' } })
    writeFileSync(join(directory, 'main.tf'), 'changed {}\n')
    expect(await call(organization, ...publishing)).toMatchObject({ code: 5 })
    const next = await print(organization, 'module', 'publish', directory, '--version', '1.2.4')
    expect(next.stdout).toMatch(/^Published \S+\/vpc\/aws 1\.2\.4, 6 files\.\n/)
  })

  test('module publish goes on with a version that has no archive yet', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const attributes = { name: 'vpc', provider: 'aws', 'registry-name': 'private' }
    const module = { data: { type: 'registry-modules', attributes } }
    expectStatus(await owner.post(`${path}/registry-modules`, module), 201)
    const version = { data: { type: 'registry-module-versions', attributes: { version: '1.0.0' } } }
    expectStatus(await owner.post(`${path}/registry-modules/private/${name}/vpc/aws/versions`, version), 201)
    const { code, body } = await call(organization, 'module', 'publish', writeModule(), '--version', '1.0.0')
    expect(body).toMatchObject({ status: 'published', created: { module: false, version: false } })
    expect(code).toBe(0)
  })

  test('registry verify finds what was changed, removed or replaced', async () => {
    const organization = await server.organization()
    const release = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    const directory = makeDirectory()
    const head = join(directory, 'head.json')
    const first = await call(organization, 'registry', 'verify', '--save', head)
    expect(first).toMatchObject({ code: 0, body: { status: 'whole', head: { sequence: 2 } } })

    await publish(organization, 'demo', '1.1.0', { platforms: ['linux_amd64'], ...release })
    expect((await call(organization, 'registry', 'verify', '--since', head)).body.head.sequence).toBe(3)
    const exported = (await organization.owner.get(`${organization.path}/registry-log/export`)).text
    const check = async (text: string, ...more: string[]) => {
      const file = join(directory, 'log.ndjson')
      writeFileSync(file, text)
      // No server, and no token.
      const { code, stdout, stderr } = await callPlinth(['registry', 'verify', file, ...more], {})
      return `${code} ${stdout}${stderr}`
    }
    expect(await check(exported, '--since', head)).toMatch(
      /^0 The registry log of org-\S+ is whole: 3 records/,
    )

    const lines = exported.trimEnd().split('\n')
    const forged = exported.replace('"version":"1.0.0"', '"version":"1.0.9"')
    expect(await check(forged)).toMatch(/^3 plinth: the log is broken at record 2: it does not have the hash/)
    expect(await check(lines.toSpliced(2, 1).join('\n'))).toMatch(
      /^3 plinth: the log is broken at record 2: record 3 is in its place/,
    )
    // Rewound as a whole: only who remembers finds out.
    const early = JSON.parse(lines[1] as string)
    const header = { ...JSON.parse(lines[0] as string), head: { sequence: 1, hash: early.hash } }
    const rewound = `${JSON.stringify(header)}\n${lines[1]}\n`
    expect(await check(rewound)).toMatch(/^0 /)
    expect(await check(rewound, '--since', head)).toMatch(
      /^3 plinth: the log is broken at record 2: the log ends before record 2, which it had/,
    )
    const other = { ...JSON.parse(readFileSync(head, 'utf8')), keys: ['0'.repeat(32)] }
    writeFileSync(join(directory, 'other.json'), JSON.stringify(other))
    expect(await check(exported, '--since', join(directory, 'other.json'))).toMatch(
      /^3 plinth: the log was signed by 0{32} before, and is so no more/,
    )
    expect(await check('no log')).toMatch(/^3 plinth: this is not the export of a registry log/)
    expect(await check(exported, '--since', join(directory, 'none'))).toMatch(
      /^2 plinth: --since .* cannot be read/,
    )
  })
})

describe('plinth module publish, before any server is asked,', () => {
  const findingsOf = async (files: Record<string, string>, change?: (directory: string) => void) => {
    const directory = writeModule(files)
    change?.(directory)
    const args = ['module', 'publish', directory, '--version', '1.0.0', '--dry-run', '--json']
    const { code, stdout } = await callPlinth(args, {})
    const { findings } = JSON.parse(stdout) as {
      findings: { severity: string; code: string; message: string }[]
    }
    return [code, ...findings.map(({ severity, code: what, message }) => `${severity} ${what}: ${message}`)]
  }

  test('finds what the server would refuse, and what nobody should read', async () => {
    expect(await findingsOf({ '.terraformignore': 'main.tf' })).toEqual([
      3,
      'error no-configuration: there is no .tf file in it',
    ])
    expect(await findingsOf({ 'prod.tfvars': 'password = "x"', 'terraform.tfstate': '{}' })).toEqual([
      0,
      'warning may-hold-secrets: everybody who may use the module can read it',
      'warning may-hold-secrets: everybody who may use the module can read it',
    ])
    const leads = (directory: string) => symlinkSync('../../etc/passwd', join(directory, 'secret'))
    expect(await findingsOf({}, leads)).toEqual([
      3,
      'error archive-refused: secret is a link that leads out of it, or may do so',
    ])
  })

  test('refuses what has no name or version', async () => {
    const args = ['module', 'publish', makeDirectory(), '--dry-run']
    const unnamed = await callPlinth([...args, '--version', '1.0.0'], {})
    expect(unnamed.code).toBe(2)
    expect(unnamed.stderr).toContain('Add --name and --provider')
    const named = [...args, '--name', 'vpc', '--provider', 'aws']
    expect((await callPlinth([...named, '--version', '1.0'], {})).stderr).toContain(
      'is not a semantic version',
    )
    expect((await callPlinth(named, {})).code).toBe(2)
  })
})
