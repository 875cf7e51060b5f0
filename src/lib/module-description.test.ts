import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type Entries, makeSlug } from '../../test/slugs.ts'
import { collectModuleFiles } from './module-archive.ts'
import { describeModule, type ModuleDescription } from './module-description.ts'
import { checkSlug } from './slug.ts'

async function described(entries: Entries): Promise<ModuleDescription | undefined> {
  const archive = await makeSlug(entries)
  const { files, take } = collectModuleFiles()
  await checkSlug(Readable.from([archive]), archive.length, take)
  return describeModule(files)
}

const TRICKY = String.raw`
# variable "commented" {}
/* output "commented" {} */ // and "variable" { again
terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      "version"             : ">= 5, < 7" # }
      configuration_aliases = [aws.other]
    }
    mine = { source = "registry.example.com/acme/mine" }
    old  = "~> 2.0"
  }
}
locals { text = "variable \"no\" {}" }
variable "settings" {
  type = object({
    name = string, tags = optional(map(string), { "}" = "{" })
  })
  default = {
    name = "a }"
    tags = { "k" = <<-EOT
      output "no" { }
    EOT
    }
  }
  description = <<-EOT
    The "settings", @@{literally}.

      Indented {
  EOT
  validation {
    condition     = length(var.settings.name) > 0
    error_message = "description = nothing"
  }
}
variable "bare" {}
variable single { default = null }
variable "quoted" {
  description = "Says \"hi\", C:\\dir,\tcaf\u00e9"
  type        = list(string)
  default     = ["a", "b"]
}
output "all" {
  description = "Everything"
  value       = { for k, v in var.settings : k => "%{ if v == "}" }x%{ endif }" }
}
resource "null_resource" "one" {
  triggers = { output = <<EOT
variable "no" {
EOT
  }
}
data "null_data_source" "no" {}
module "inner" {
  source  = "./modules/inner"
  version = "1.0.0"
}
`.replaceAll('@', '$')

describe('a module', () => {
  test('is described by its blocks, whatever is in their texts', async () => {
    const { root, warnings } = (await described({ 'main.tf': TRICKY })) as ModuleDescription
    expect(warnings).toEqual([])
    expect(root).toEqual({
      path: '',
      name: '',
      readme: '',
      empty: false,
      inputs: [
        { name: 'bare', type: '', description: '', default: '', required: true },
        {
          name: 'quoted',
          type: 'list(string)',
          description: 'Says "hi", C:\\dir,\tcafé',
          default: '["a", "b"]',
          required: false,
        },
        {
          name: 'settings',
          type: 'object({\n  name = string, tags = optional(map(string), { "}" = "{" })\n})',
          description: `The "settings", ${'$'}{literally}.\n\n  Indented {`,
          default: '{\n  name = "a }"\n  tags = { "k" = <<-EOT\n    output "no" { }\n  EOT\n  }\n}',
          required: false,
        },
        { name: 'single', type: '', description: '', default: 'null', required: false },
      ],
      outputs: [{ name: 'all', description: 'Everything' }],
      dependencies: [{ name: 'inner', source: './modules/inner', version: '1.0.0' }],
      provider_dependencies: [
        { name: 'aws', namespace: 'hashicorp', source: 'hashicorp/aws', version: '>= 5, < 7' },
        { name: 'mine', namespace: 'acme', source: 'registry.example.com/acme/mine', version: '' },
        { name: 'old', namespace: 'hashicorp', source: 'hashicorp/old', version: '~> 2.0' },
      ],
      resources: [{ name: 'one', type: 'null_resource' }],
    })
  })

  test('may be written in JSON', async () => {
    const json = {
      terraform: [{ required_providers: { aws: { source: 'hashicorp/aws', version: '5' }, old: '1' } }],
      variable: { a: { type: 'string', description: 'An a', default: { b: [1] } }, c: [{}] },
      output: [{ o: { value: 1, description: 'An o' } }],
      module: { m: { source: './m' } },
      resource: { null_resource: { one: {}, two: [{}] } },
    }
    const { root } = (await described({ 'main.tf.json': JSON.stringify(json) })) as ModuleDescription
    expect(root).toMatchObject({
      inputs: [
        {
          name: 'a',
          type: 'string',
          description: 'An a',
          default: '{\n  "b": [\n    1\n  ]\n}',
          required: false,
        },
        { name: 'c', type: '', description: '', default: '', required: true },
      ],
      outputs: [{ name: 'o', description: 'An o' }],
      dependencies: [{ name: 'm', source: './m', version: '' }],
      provider_dependencies: [
        { name: 'aws', source: 'hashicorp/aws', version: '5' },
        { name: 'old', source: 'hashicorp/old', version: '1' },
      ],
      resources: [
        { name: 'one', type: 'null_resource' },
        { name: 'two', type: 'null_resource' },
      ],
    })
  })

  test('has modules and examples in it, and a README', async () => {
    const found = (await described({
      './main.tf': 'variable "a" {}\r\noutput "b" {\r\n  value = 1\r\n}\r\n',
      'main_override.tf': 'variable "a" { default = 1 }',
      'README.md': '# Top',
      'modules/inner/main.tofu': 'variable "tofu" {}',
      'modules/inner/main.tf': 'variable "terraform" {}',
      'modules/inner/readme': 'Inner',
      'modules/inner/deeper/main.tf': 'variable "no" {}',
      'modules/none/README.md': 'No module',
      'examples/full/main.tf': '',
      'other/main.tf': 'variable "no" {}',
    })) as ModuleDescription
    expect(found.root).toMatchObject({ readme: '# Top', inputs: [{ name: 'a', required: true }] })
    expect(found.submodules).toMatchObject([
      { path: 'modules/inner', name: 'inner', readme: 'Inner', inputs: [{ name: 'tofu' }] },
    ])
    expect(found.examples).toMatchObject([{ path: 'examples/full', name: 'full', empty: true }])
  })

  test('is described as far as it can be read', async () => {
    const found = (await described({
      'a.tf': 'variable "a" {}\n\nvariable "b" { default = ',
      'b.tf.json': '{',
      'c.tf': `# ${'x'.repeat(300_000)}`,
      'd.tf': '{'.repeat(20_000),
      'e.tf.json': `{"variable":{"e":{"default":${'['.repeat(50_000)}${']'.repeat(50_000)}}}}`,
      'f.tf': `variable "f" {\n  default = [\n${' '.repeat(40_000)}x\n  ]\n}\n`,
      'g.tf': `variable "g" {\n  description = <<-EOT\n${'x\n'.repeat(120_000)}EOT\n}\n`,
      '._main.tf': 'from another system',
    })) as ModuleDescription
    expect(found.root.inputs.map(({ name }) => name)).toEqual(expect.arrayContaining(['a', 'g']))
    expect(found.warnings.filter((warning) => !warning.startsWith('f.tf'))).toEqual([
      'c.tf is too large to be shown',
      'a.tf: it cannot be read from line 3 on',
      'b.tf.json: it is not JSON, or nested too deeply',
      'd.tf: it cannot be read from line 1 on',
      'e.tf.json: it is not JSON, or nested too deeply',
    ])
  })

  test('is described as far as there are not too many files', async () => {
    const many = Array.from({ length: 1002 }, (_, n): [string, string] => [`modules/m${n}/main.tf`, ''])
    const found = await described({ ...Object.fromEntries(many), 'main.tf': 'variable "a" {}' })
    expect(found?.root.inputs).toHaveLength(1)
    expect(found?.submodules).toHaveLength(1000)
    expect(found?.warnings).toEqual(['2 more files are not shown'])
  })

  test('has its configuration in the root', async () => {
    expect(await described({ 'module/main.tf': '', '.main.tf': '', 'README.md': '' })).toBeUndefined()
  })
})
