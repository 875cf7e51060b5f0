import { LostExecution, type Outcome } from './channel.ts'
import { EngineVersionError } from './constraints.ts'
import { EngineError } from './engine.ts'
import type { Job } from './job.ts'
import { ConfigurationError } from './slug.ts'
import { Stopped, type StopReason } from './stop.ts'

/** How a phase ends that was stopped. */
export function stoppedOutcome({ assignment }: Pick<Job, 'assignment'>, reason: StopReason): Outcome {
  switch (reason) {
    case 'cancel':
    case 'force':
      return { status: 'canceled' }
    case 'worker':
      return { status: 'errored', error: 'the worker was stopped' }
    case 'timeout':
      return {
        status: 'errored',
        error: `the ${assignment.phase} was stopped: it took more than ${assignment.timeout} seconds`,
      }
    case 'lost':
      throw new LostExecution()
  }
}

/** How a phase ends that failed; what is not for people is logged where the machine is looked after. */
export function failedOutcome(job: Job, error: unknown): Outcome {
  const { stop, options, assignment } = job
  if (error instanceof LostExecution) throw error
  if (error instanceof Stopped && stop.reason) return stoppedOutcome(job, stop.reason)
  if (error instanceof ConfigurationError) {
    return { status: 'errored', error: `the configuration cannot be used: ${error.message}` }
  }
  if (error instanceof EngineVersionError || error instanceof EngineError) {
    // A signal in the middle of its preparations makes them fail.
    return stop.reason ? stoppedOutcome(job, stop.reason) : { status: 'errored', error: error.message }
  }
  options.log.error({ err: error, run: assignment.run.id }, 'a run could not be carried out')
  return { status: 'errored', error: `the worker failed: ${(error as Error).message}` }
}
