import { describe, expect } from 'vitest'
import { Bench } from '../../test/engine/bench.ts'
import { testWithTerraform } from '../../test/terraform.ts'
import type { RunVariable } from './channel.ts'

const variable = (key: string, value: string, more: Partial<RunVariable> = {}): RunVariable => ({
  key,
  value,
  hcl: false,
  sensitive: false,
  ...more,
})

async function apply(binary: string, files: Record<string, string>, wish: Parameters<Bench['apply']>[1]) {
  const bench = new Bench()
  await bench.start(binary)
  const { run, apply: outcome } = await bench.apply(files, wish)
  expect(outcome.status, run.log('plan') + run.log('apply')).toBe('finished')
  const outputs = Object.entries(bench.channel.state().outputs as Record<string, { value: unknown }>)
  return { bench, run, outputs: Object.fromEntries(outputs.map(([name, { value }]) => [name, value])) }
}

const declare = (names: string[]) =>
  names
    .map(
      (name) =>
        `variable "${name}" {\n  default = "default"\n}\noutput "${name}" {\n  value = var.${name}\n}\n`,
    )
    .join('')

describe('variables of the configuration', () => {
  testWithTerraform('arrive as they are', async (binary) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it must arrive as it is
    const awkward = 'She said "hi"\n\\n ${not.a.reference} %{ if true } \t é 𝄞 \'\n'
    const { outputs } = await apply(
      binary,
      { 'main.tf': declare(['awkward', 'list', 'run', 'heredoc', 'number']) },
      {
        run: { variables: [{ key: 'run', value: '{ a = "b" } # of the run' }] },
        assignment: {
          terraformVariables: [
            variable('awkward', awkward),
            variable('number', '7'),
            variable('list', '["a", 1]', { hcl: true }),
            variable('heredoc', '<<EOT\nlines\nEOT\n', { hcl: true }),
          ],
        },
      },
    )
    expect(outputs).toEqual({ awkward, list: ['a', 1], run: { a: 'b' }, heredoc: 'lines\n', number: '7' })
  })

  testWithTerraform('beat one another in the order of their weight', async (binary) => {
    const names = ['none', 'file', 'workspace', 'twice', 'run', 'priority', 'priority_hcl']
    const { outputs } = await apply(
      binary,
      {
        'main.tf': declare(names),
        'x.auto.tfvars': ['file', 'workspace'].map((name) => `${name} = "file"\n`).join(''),
      },
      {
        run: {
          variables: ['run', 'priority', 'priority_hcl'].map((key) => ({ key, value: '"run"' })),
        },
        assignment: {
          terraformVariables: [
            variable('workspace', 'workspace'),
            variable('twice', '"hcl"', { hcl: true }),
            variable('twice', 'last'),
            variable('run', 'workspace'),
            variable('priority', 'priority', { priority: true }),
            variable('priority_hcl', '"priority"', { priority: true, hcl: true }),
            variable('undeclared', 'x'),
          ],
        },
      },
    )
    expect(outputs).toEqual({
      none: 'default',
      file: 'file',
      workspace: 'workspace',
      twice: 'last',
      run: 'run',
      priority: 'priority',
      priority_hcl: 'priority',
    })
  })
})

describe('ephemeral variables', () => {
  testWithTerraform('are given to the apply too, and no others', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    const main = `variable "passing" {\n  ephemeral = true\n}\nvariable "staying" {}
      resource "terraform_data" "it" {
        input = var.staying
        provisioner "local-exec" {
          command = "echo length: \${length(var.passing)}"
        }
      }\n`
    const assignment = { terraformVariables: [variable('passing', 'seven77'), variable('staying', 'x')] }
    const run = await bench.run({ 'main.tf': main }, { assignment })
    expect(await run.plan()).toMatchObject({ status: 'finished' })
    // Since then somebody has changed it.
    assignment.terraformVariables[1] = variable('staying', 'y')
    expect(await run.apply(), run.log('apply')).toMatchObject({ status: 'finished' })
    expect(bench.channel.state().resources[0].instances[0].attributes.output.value).toBe('x')
  })
})

describe('the environment of a run', () => {
  const printing = (structuredOutput: boolean) => ({
    run: { structuredOutput },
    files: {
      'main.tf':
        'resource "terraform_data" "it" {\n  provisioner "local-exec" {\n    command = "env | sort | sed s/^/env:/"\n  }\n}\n',
    },
  })

  testWithTerraform('has what is the run’s, and nothing of the server’s', async (binary) => {
    process.env['PLINTH_TEST_SECRET'] = 'of the server'
    const { files, run: wish } = printing(false)
    const { run } = await apply(binary, files, {
      run: wish,
      assignment: {
        environmentVariables: [
          variable('AWS_REGION', 'eu-central-1'),
          variable('TF_VAR_unused', 'x'),
          variable('PATH', '/evil'),
          variable('LD_PRELOAD', '/evil.so'),
          variable('TF_CLI_ARGS_plan', '-destroy'),
          variable('TF_WORKSPACE', 'other'),
          variable('TFC_RUN_ID', 'run-other'),
          variable('not a name', 'x'),
        ],
      },
    })
    const log = run.log('apply')
    const env = Object.fromEntries(
      [...log.matchAll(/env:(\w+)=(.*)/g)].map(([, name = '', value]) => [name, value]),
    )
    const { PWD: _pwd, SHLVL: _level, _: _last, OLDPWD: _old, ...rest } = env
    expect(Object.keys(rest).sort()).toEqual(
      [
        ...['AWS_REGION', 'CHECKPOINT_DISABLE', 'HOME', 'PATH', 'TMPDIR', 'TFC_PROJECT_NAME', 'TFC_RUN_ID'],
        ...['TFC_WORKSPACE_NAME', 'TFC_WORKSPACE_SLUG', 'TF_CLI_CONFIG_FILE', 'TF_INPUT', 'TF_IN_AUTOMATION'],
        ...['TF_VAR_TFC_PROJECT_NAME', 'TF_VAR_TFC_RUN_ID', 'TF_VAR_TFC_WORKSPACE_NAME'],
        ...['TF_VAR_TFC_WORKSPACE_SLUG', 'TF_VAR_unused', 'TF_WORKSPACE'],
      ].sort(),
    )
    expect(rest).toMatchObject({ AWS_REGION: 'eu-central-1', TFC_RUN_ID: run.id, TF_WORKSPACE: 'network' })
    expect(rest['PATH']).not.toContain('evil')
    expect(log).not.toContain('of the server')
    expect(run.log('plan')).toContain('The environment variable LD_PRELOAD is the platform')
  })

  testWithTerraform('is told to nobody where it is sensitive', async (binary) => {
    for (const structured of [true, false]) {
      const { files, run: wish } = printing(structured)
      const { run } = await apply(binary, files, {
        run: wish,
        assignment: {
          environmentVariables: [
            variable('PASSWORD', 'hunter2 & "friends"', { sensitive: true }),
            variable('ENCODED', Buffer.from('hunter2 & "friends"').toString('base64')),
          ],
        },
      })
      expect(run.log('apply')).toMatch(/env:PASSWORD=\*\*\*/)
      expect(run.log('apply')).toMatch(/env:ENCODED=\*\*\*/)
      expect(run.log('apply')).not.toMatch(/hunter2|aHVudGVyM/)
      if (structured) for (const line of run.log('apply').trimEnd().split('\n').slice(3)) JSON.parse(line)
    }
  })

  testWithTerraform('has the key for fetching modules, which others cannot read', async (binary) => {
    const command = 'echo "$GIT_SSH_COMMAND"; cd $HOME; stat -c "%a %n" .. ssh-key cli.tfrc; wc -l ssh-key'
    const main = `resource "terraform_data" "it" {
      provisioner "local-exec" {
        command = ${JSON.stringify(command)}
      }
    }\n`
    const { run } = await apply(
      binary,
      { 'main.tf': main },
      { run: { structuredOutput: false }, assignment: { sshKey: 'one\ntwo' } },
    )
    expect(run.log('apply')).toMatch(/: ssh -F none -i '.*\/ssh-key' -o 'IdentitiesOnly=yes'/)
    expect(run.log('apply')).toMatch(/700 \.\.\n.*600 ssh-key\n.*600 cli\.tfrc\n.*2 ssh-key/)
  })

  testWithTerraform('makes the engine tell everything where that is wanted', async (binary) => {
    const { run } = await apply(binary, { 'main.tf': '' }, { run: { debuggingMode: true } })
    expect(run.log('plan')).toMatch(/\[(TRACE|DEBUG)\]|"@level":"(trace|debug)"/)
    expect(run.log('plan')).not.toContain('plinth_token-of-the-run')
  })
})

describe('sensitive values in a plan', () => {
  testWithTerraform('are digests in the form that everybody may see', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    const main = `variable "declared" {\n  sensitive = true\n}\nvariable "undeclared" {}
      resource "terraform_data" "it" {
        input = { a = var.declared, b = [var.declared, null], c = var.undeclared, d = "plain" }
      }
      output "same" {\n  value = var.declared\n  sensitive = true\n}\n`
    const run = await bench.run(
      { 'main.tf': main },
      {
        assignment: {
          terraformVariables: [
            variable('declared', 'hunter2'),
            variable('undeclared', 'swordfish', { sensitive: true }),
          ],
        },
      },
    )
    await run.plan()
    const text = bench.channel.read(run.id, 'json-output-redacted')
    expect(text).not.toMatch(/hunter2|swordfish/)
    const redacted = JSON.parse(text)
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
    const { input } = redacted.resource_changes[0].change.after
    expect(input).toEqual({ a: digest, b: [digest, null], c: '***', d: 'plain' })
    expect(input.b[0]).toBe(input.a)
    expect(redacted.output_changes.same.after).toBe(input.a)
    expect(bench.channel.read(run.id, 'json-output')).toContain('hunter2')
    expect(run.log('plan')).not.toMatch(/hunter2|swordfish/)
  })
})
