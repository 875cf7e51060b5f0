import { apply } from './apply.ts'
import type { Assignment, Channel, Outcome } from './channel.ts'
import { makePlaces, placesOf, removePlaces } from './directory.ts'
import type { Job } from './job.ts'
import { recordOwner } from './leftovers.ts'
import { RunLog } from './log.ts'
import type { EngineOptions } from './options.ts'
import { failedOutcome } from './outcome.ts'
import { Output } from './output.ts'
import { plan } from './plan.ts'
import { prepare, secretsOf } from './prepare.ts'
import { endPrograms } from './programs.ts'
import type { Stop } from './stop.ts'

/**
 * Carries out one phase of a run, in a directory that is gone when this returns; all of its log has been told by then.
 * Throws `LostExecution` once the execution is another worker's.
 */
export async function execute(
  assignment: Assignment,
  channel: Channel,
  options: EngineOptions,
  stop: Stop,
  signal: AbortSignal,
): Promise<Outcome> {
  const log = new RunLog(
    (start, text) => channel.appendLog(assignment.executionId, start, text),
    signal,
    () => stop.request('lost'),
  )
  const secrets = secretsOf(assignment)
  const output = new Output(log, assignment.run.structuredOutput, secrets)
  const places = placesOf(options.workDir, assignment.run.id)
  const job: Job = { assignment, channel, options, places, log, output, stop, signal, secrets }
  try {
    const outcome = await carryOut(job)
    await log.flush()
    return outcome
  } finally {
    log.discard()
    // What has left the engine's process group, to outlive the run.
    await endPrograms(places.root, 0)
    await removePlaces(places).catch((error: unknown) =>
      options.log.error({ err: error, path: places.root }, 'the directory of a run could not be removed'),
    )
  }
}

async function carryOut(job: Job): Promise<Outcome> {
  try {
    await makePlaces(job.places)
    await recordOwner(job.places, job.assignment)
    const ready = await prepare(job)
    return await (job.assignment.phase === 'plan' ? plan(ready) : apply(ready))
  } catch (error) {
    return failedOutcome(job, error)
  }
}
