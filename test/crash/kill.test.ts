import { describe, expect, test } from 'vitest'
import { createPostgresDatabase, DIALECTS } from '../harness.ts'
import { Driver, type Totals } from './driver.ts'

// The server is killed in the middle of whatever it does, again and again, by SIGKILL, which leaves it no time
// to tidy up. `npm run crash` does the same a thousand times.

/** Kills in all, on both databases together. */
const ROUNDS = Number(process.env['PLINTH_CRASH_ROUNDS'] || 200)

/** What a failing run names, to be run again. */
const SEED = Number(process.env['PLINTH_CRASH_SEED'] || Date.now() % 1_000_000)

/** Servers that are killed side by side on each database, each with data of its own. */
const DRIVERS = 2

const MINUTE = 60_000

describe.concurrent('a server that is killed', () => {
  const share = Math.ceil(ROUNDS / DIALECTS.length / DRIVERS)

  test.each(DIALECTS)(
    `on %s, ${share * DRIVERS} times, has lost nothing that it acknowledged and shows nothing half-written`,
    { timeout: 2 * MINUTE + (MINUTE * ROUNDS) / 20 },
    async (dialect) => {
      const runs = Array.from({ length: DRIVERS }, async (_, index) => {
        const seed = SEED + 10 * index + DIALECTS.indexOf(dialect)
        const database = dialect === 'postgres' && { PLINTH_DATABASE_URL: await createPostgresDatabase() }
        const driver = new Driver(seed, { ...database })
        return driver.run(share).catch((error: unknown) => {
          throw new Error(`PLINTH_CRASH_SEED=${SEED}: ${error}`, { cause: error })
        })
      })
      const results = await Promise.allSettled(runs)
      for (const result of results) if (result.status === 'rejected') throw result.reason
      const totals = sum(await Promise.all(runs))
      process.stdout.write(`${describeTotals(dialect, totals)}\n`)
      expect(totals.rounds).toBeGreaterThanOrEqual(share * DRIVERS)
      expect(totals.acknowledged).toBeGreaterThan(totals.rounds)
      expect(totals.uploadsCut).toBeGreaterThan(totals.rounds / 10)
    },
  )
})

function sum(all: readonly Totals[]): Totals {
  const total = { rounds: 0, acknowledged: 0, uploadsCut: 0, checks: 0 }
  for (const one of all) for (const name of Object.keys(total) as (keyof Totals)[]) total[name] += one[name]
  return total
}

function describeTotals(dialect: string, totals: Totals): string {
  const { rounds, acknowledged, uploadsCut, checks } = totals
  return `${dialect}: killed ${rounds} times; ${acknowledged} writes acknowledged, ${uploadsCut} uploads cut off, ${checks} checks, seed ${SEED}`
}
