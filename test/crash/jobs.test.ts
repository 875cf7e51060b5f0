import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { createPostgresDatabase, DIALECTS } from '../harness.ts'
import { Program } from '../program.ts'
import { Storage } from './storage.ts'
import { LEASE_SECONDS } from './worker.ts'

const JOBS = 24

const KILLS = 6

interface Line {
  event: string
  id: string
  at: number
}

function readLog(path: string): Line[] {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  return lines.map((line) => {
    const [event = '', id = '', at] = line.split(' ')
    return { event, id, at: Number(at) }
  })
}

describe.concurrent('a worker that is killed', () => {
  test.each(DIALECTS)(
    `on %s leaves its jobs to the next one, which takes them up when their lease is over`,
    async (dialect) => {
      const directory = mkdtempSync(join(tmpdir(), 'plinth-jobs-'))
      const log = join(directory, 'log')
      const settings = {
        PLINTH_DATA_DIR: join(directory, 'data'),
        ...(dialect === 'postgres' && { PLINTH_DATABASE_URL: await createPostgresDatabase() }),
      }
      const storage = new Storage(readConfig(settings))
      const spawn = (jobs: number) =>
        new Program({ ...settings, CRASH_LOG: log, CRASH_ADD: String(jobs) }, [
          process.execPath,
          'test/crash/worker.ts',
        ])
      const until = async (holds: () => boolean | Promise<boolean>, program: Program) => {
        while (!(await holds())) {
          if (program.hasEnded) throw new Error(program.stderr)
          await sleep(10)
        }
      }

      for (let kills = 0; kills < KILLS; kills++) {
        const begun = readLog(log).length
        const program = spawn(kills === 0 ? JOBS : 0)
        await until(() => readLog(log).length > begun + 1, program)
        await program.kill()
      }
      const last = spawn(0)
      const left = () => storage.query("select id from jobs where name = 'crash.work'")
      await until(async () => (await left()).length === 0, last)
      await last.kill()

      const lines = readLog(log)
      const ended = new Set(lines.filter(({ event }) => event === 'end').map(({ id }) => id))
      expect(ended.size).toBe(JOBS)
      const begins = Map.groupBy(
        lines.filter(({ event }) => event === 'begin'),
        ({ id }) => id,
      )
      const repeated = [...begins.values()].filter((each) => each.length > 1)
      expect(repeated.length).toBeGreaterThan(0)
      // The lease begins with the claim, which a busy machine may write down some time before the work begins.
      for (const [first, second] of repeated) {
        expect(Number(second?.at) - Number(first?.at)).toBeGreaterThan(LEASE_SECONDS * 500)
      }
      rmSync(directory, { recursive: true, force: true })
    },
  )
})
