import { LostExecution, type Outcome } from './channel.ts'
import { EngineVersionError } from './constraints.ts'
import { EngineError } from './engine.ts'
import type { Job } from './job.ts'
import { ConfigurationError } from './slug.ts'
import { Stopped, type StopReason } from './stop.ts'

/** How a phase ends that was stopped; its log says why, unless people have asked for it. */
export async function stoppedOutcome(job: Job, reason: StopReason): Promise<Outcome> {
  const { assignment } = job
  switch (reason) {
    case 'cancel':
    case 'force':
      return { status: 'canceled' }
    case 'worker':
      return errored(job, 'the worker was stopped')
    case 'timeout':
      return errored(
        job,
        `the ${assignment.phase} was stopped: it took more than ${assignment.timeout} seconds`,
      )
    case 'lost':
      throw new LostExecution()
  }
}

/** How a phase ends that failed; what is not for people is logged where the machine is looked after. */
export async function failedOutcome(job: Job, error: unknown): Promise<Outcome> {
  const { stop, options, assignment } = job
  if (error instanceof LostExecution) throw error
  if (error instanceof ConfigurationError) {
    return errored(job, `the configuration cannot be used: ${error.message}`)
  }
  if (error instanceof Stopped || error instanceof EngineVersionError || error instanceof EngineError) {
    // A signal in the middle of its preparations makes the engine fail.
    return stop.reason ? stoppedOutcome(job, stop.reason) : errored(job, error.message)
  }
  options.log.error({ err: error, run: assignment.run.id }, 'a run could not be carried out')
  return errored(job, `the worker failed: ${(error as Error).message}`)
}

async function errored({ output }: Job, error: string): Promise<Outcome> {
  await output.say('error', error.charAt(0).toUpperCase() + error.slice(1))
  return { status: 'errored', error }
}
