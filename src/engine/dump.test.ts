import { mkdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Bench } from '../../test/engine/bench.ts'
import { NEEDS_MOUNT, SmallDisk } from '../../test/outages/small-disk.ts'
import { findTerraform } from '../../test/terraform.ts'
import { DumpCatcher } from './dump.ts'

const STATE = '{\n  "version": 4,\n  "serial": 5,\n  "lineage": "l",\n  "secret": "é"\n}'

function passThrough(text: string, size: number) {
  const catcher = new DumpCatcher()
  const bytes = Buffer.from(text)
  let passed = ''
  for (let at = 0; at < bytes.length; at += size) passed += catcher.push(bytes.subarray(at, at + size))
  return { passed: passed + catcher.end(), state: catcher.state }
}

describe('a state that is printed', () => {
  const line = (text: string) =>
    `{"@level":"info","@message":"Emergency state dump","@module":"terraform.ui","state":${text},"type":"x"}\n`

  test('is taken out of what is printed, wherever it is cut', () => {
    const compact = JSON.stringify(JSON.parse(STATE))
    for (const size of [1, 7, 4096]) {
      const people = passThrough(`before\n${STATE}\nafter\n`, size)
      expect(people.state).toBe(STATE)
      expect(people.passed).toMatch(/^before\n\(The state, .*\)\nafter\n$/)
      const events = passThrough(`{"@level":"info"}\n${line(compact)}end`, size)
      expect(events.state).toBe(compact)
      expect(events.passed).toMatch(/^\{"@level":"info"\}\n\(The state, .*\)\nend$/)
    }
  })

  test('is withheld when it is not whole', () => {
    const { passed, state } = passThrough(STATE.slice(0, -10), 9)
    expect(state).toBeUndefined()
    expect(passed).toMatch(/^\(The state, /)
  })

  test('is not what only looks like it', () => {
    for (const text of [
      '{\n  "a": 1\n}\n',
      '{\n',
      'text',
      '{"a":1}\n',
      `x ${line('{}')}`,
      line('{}'),
      '\n\n',
    ]) {
      expect(passThrough(text, 3)).toEqual({ passed: text, state: undefined })
    }
  })
})

const terraform = findTerraform()
const possible = terraform !== undefined && SmallDisk.isPossible()

describe('a full disk', () => {
  const files = {
    'main.tf': `resource "terraform_data" "fill" {
      provisioner "local-exec" {
        command = "dd if=/dev/zero of=$HOME/fill bs=1k 2> /dev/null; true"
      }
    }
    resource "terraform_data" "big" {
      input      = join("", [for i in range(1000) : "xxxxxxxxxx"])
      depends_on = [terraform_data.fill]
    }`,
  }

  test.skipIf(!possible).for([true, false])(
    'costs no state, and tells none (events: %s)',
    { meta: { needs: NEEDS_MOUNT } },
    async (structuredOutput) => {
      const disk = new SmallDisk(4)
      onTestFinished(() => disk.remove())
      const bench = new Bench()
      mkdirSync(`${disk.path}/runs`)
      await bench.start(terraform as string, { workDir: `${disk.path}/runs` })
      const { run, apply } = await bench.apply(files, { run: { structuredOutput } })
      expect(apply).toMatchObject({ status: 'errored', error: expect.stringContaining('Failed to') })
      const { resources } = bench.channel.state()
      expect(resources.map(({ name }: { name: string }) => name)).toContain('fill')
      expect(run.log('apply')).toContain('has been taken from the log')
      expect(run.log('apply')).not.toContain('xxxxx')
    },
  )
})
