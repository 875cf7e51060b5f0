import { pino } from 'pino'
import type { Config } from '../src/config/config.ts'
import { readSecrets } from '../src/config/secrets.ts'
import type { Job } from '../src/jobs/job.ts'
import { addSeconds } from '../src/lib/time.ts'
import { assemble } from '../src/services.ts'

/** Runs a job as a second server on the same data would, `days` from now. */
export async function runLater(
  { config, dataDir }: { config: Config; dataDir: string },
  job: Job,
  days: number,
): Promise<void> {
  const services = await assemble(config, readSecrets({}, dataDir), pino({ level: 'silent' }))
  try {
    const ctx = {
      ...services,
      now: () => addSeconds(new Date().toISOString(), days * 24 * 3600),
      subject: { kind: 'system', id: job.name } as const,
      request: { id: 'run-test', authorized: false, access: new Map() },
    }
    await job.run(ctx, {}, new AbortController().signal)
  } finally {
    await services.connection.close()
  }
}
