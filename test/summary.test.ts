import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findTerraform } from './terraform.ts'

// What CI reads of a run, and what it must not miss.

const ROOT = join(import.meta.dirname, '..')

const CONFIG = `
import { Summary } from '${ROOT}/test/summary.ts'
export default { test: { include: ['*.test.ts'], reporters: ['default', new Summary()] } }
`

const TESTS = `
import { test } from 'vitest'
import { testWithTerraform } from '${ROOT}/test/terraform.ts'
testWithTerraform('one', async () => {})
testWithTerraform('two', async () => {})
test('good', () => {})
test.skip('later', () => {})
`

const BAD_TESTS = `
import { describe, beforeAll, test } from 'vitest'
test('bad', () => { throw new Error('bad') })
describe('in a bad place', () => {
  beforeAll(() => { throw new Error('set-up') })
  test('never runs', () => {})
})
`

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-summary-'))
  mkdirSync(join(directory, 'bin'))
  writeFileSync(join(directory, 'bin', 'tofu'), '#!/bin/sh\n')
  chmodSync(join(directory, 'bin', 'tofu'), 0o755)
  writeFileSync(join(directory, 'bin', 'terraform'), 'not a program')
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'vitest.config.ts'), CONFIG)
  writeFileSync(join(directory, 'good.test.ts'), TESTS)
  writeFileSync(join(directory, 'bad.test.ts'), BAD_TESTS)
})
afterAll(() => rmSync(directory, { recursive: true }))

/** The exit code of a run and the last lines it printed. */
function runTests(file: string, environment: Record<string, string>) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', directory, file],
    { cwd: directory, encoding: 'utf8', env: { PATH: '/nowhere', ...environment } },
  )
  return { status, lines: stdout.trimEnd().split('\n').slice(-2) }
}

describe('a run', () => {
  test('without a CLI leaves out the tests that need one, and says so before its last line', () => {
    expect(runTests('good', {})).toEqual({
      status: 0,
      lines: [
        'left out: 2 tests that drive the real CLI: no terraform or tofu on PATH, and PLINTH_TERRAFORM is not set',
        '1 passed, 0 failed, 3 skipped',
      ],
    })
  })

  test('without a CLI fails in CI', () => {
    const { status, lines } = runTests('good', { CI: 'true' })
    expect(status).toBe(1)
    expect(lines.at(-1)).toBe('1 passed, 2 failed, 1 skipped')
  })

  test('with a CLI leaves nothing out', () => {
    const { status, lines } = runTests('good', { PATH: join(directory, 'bin'), CI: 'true' })
    expect(status).toBe(0)
    expect(lines.at(-1)).toBe('3 passed, 0 failed, 1 skipped')
  })

  test('says when PostgreSQL was left out', () => {
    expect(runTests('good', { PLINTH_TERRAFORM: 'x', PLINTH_TEST_DIALECTS: 'sqlite' }).lines).toEqual([
      'left out: the tests on PostgreSQL: PLINTH_TEST_DIALECTS is sqlite',
      '3 passed, 0 failed, 1 skipped',
    ])
  })

  test('counts what fails outside of tests', () => {
    const { status, lines } = runTests('bad', {})
    expect(status).toBe(1)
    expect(lines.at(-1)).toBe('0 passed, 2 failed, 1 skipped')
  })
})

test('the CLI is the one that was named, or the first program on the path', () => {
  const bin = join(directory, 'bin')
  expect(findTerraform({ PLINTH_TERRAFORM: '/opt/terraform', PATH: bin })).toBe('/opt/terraform')
  expect(findTerraform({ PATH: `/nowhere::${bin}` })).toBe(join(bin, 'tofu'))
  expect(findTerraform({ PATH: '/nowhere' })).toBeUndefined()
  expect(findTerraform({})).toBeUndefined()
})
