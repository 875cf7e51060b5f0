import { pino } from 'pino'
import type { Config } from '../src/config/config.ts'
import { readSecrets } from '../src/config/secrets.ts'
import type { Ctx } from '../src/context.ts'
import type { Job } from '../src/jobs/job.ts'
import { addSeconds } from '../src/lib/time.ts'
import { assemble } from '../src/services.ts'

interface Data {
  config: Config
  dataDir: string
}

/** Does `work` as a second server on the same data would, `days` from now. */
export async function asSecondServer<T>(
  { config, dataDir }: Data,
  work: (ctx: Ctx) => Promise<T>,
  days = 0,
): Promise<T> {
  const services = await assemble(config, readSecrets({}, dataDir), pino({ level: 'silent' }))
  try {
    return await work({
      ...services,
      now: () => addSeconds(new Date().toISOString(), days * 24 * 3600),
      subject: { kind: 'system', id: 'test' },
      request: { id: 'run-test', authorized: false, access: new Map() },
    })
  } finally {
    await services.connection.close()
  }
}

/** Runs a job as a second server on the same data would, `days` from now. */
export function runLater(data: Data, job: Job, days: number): Promise<void> {
  return asSecondServer(data, (ctx) => job.run(ctx, {}, new AbortController().signal), days)
}
