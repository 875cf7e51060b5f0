import { readdirSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { Bench } from '../../test/engine/run.ts'
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

describe('a run', () => {
  testWithTerraform('is planned and applied, and leaves its state and nothing else', async (binary) => {
    const bench = new Bench()
    await bench.start(binary)
    const { run, plan, apply } = await bench.apply(GREETING)
    expect(plan).toEqual({
      status: 'finished',
      hasChanges: true,
      generatedConfiguration: false,
      counts: { additions: 1, changes: 0, destructions: 0, imports: 0 },
    })
    expect(apply).toEqual({ status: 'finished', counts: plan.counts })
    expect(bench.channel.state().outputs.greeting.value).toBe('hello')
    expect(readdirSync(bench.workDir)).toEqual([])
  })
})
