import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '../../src/config/config.ts'
import { readSecrets } from '../../src/config/secrets.ts'
import type { Ctx } from '../../src/context.ts'
import { inTransaction } from '../../src/db/transaction.ts'
import { enqueue, type Job } from '../../src/jobs/job.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { assemble } from '../../src/services.ts'

// A program of its own, to be killed: runs the jobs of the database that its environment names. `CRASH_LOG` is
// the file it writes to; the number in `CRASH_ADD` says how many jobs it adds first.

export const LEASE_SECONDS = 1

const log = (line: string) => appendFileSync(process.env['CRASH_LOG'] ?? '', `${line}\n`)

/** Takes long enough to be killed in the middle, on average. */
const work: Job<{ id: string }> = {
  name: 'crash.work',
  leaseSeconds: LEASE_SECONDS,
  async run(_ctx, { id }) {
    log(`begin ${id} ${Date.now()}`)
    await sleep(100)
    log(`end ${id} ${Date.now()}`)
  },
}

if (import.meta.main) {
  const config = readConfig(process.env)
  const services = await assemble(config, readSecrets({}, config.dataDir), pino({ level: 'silent' }))
  await inTransaction(services as Ctx, async (tx) => {
    for (let n = 0; n < Number(process.env['CRASH_ADD']); n++) await enqueue(tx, work, { id: String(n) })
  })
  await new Worker(services, [work as unknown as Job]).start()
  log('started')
}
