import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORED_STATE } from './backend.ts'
import { LostExecution, type Outcome } from './channel.ts'
import { forgetDumped, writeDumped } from './dumped-state.ts'
import { writeEphemeralVariables } from './ephemeral.ts'
import { outFile, PLAN_FILE, type ReadyJob } from './job.ts'
import { recordOwner } from './leftovers.ts'
import { stoppedOutcome } from './outcome.ts'
import { digestOf, saveState } from './state.ts'
import { asArguments } from './variables.ts'

/** Applies the plan, and saves what has become of the state, however that ended. */
export async function apply(job: ReadyJob): Promise<Outcome> {
  const { assignment, places, engine, statePath, stop, output } = job
  const before = await digestOf(statePath)
  await recordOwner(places, assignment, { path: statePath, digest: before })
  const variables = asArguments(await writeEphemeralVariables(job))
  const { code, tally, dumped } = await engine.work(['apply', ...variables, outFile(job, PLAN_FILE)])
  const written = dumped === undefined ? findState(job) : await writeDumped(job, dumped)
  const after = await digestOf(written)
  const changed = after !== undefined && after !== before
  const saved = changed ? await saveState({ ...job, statePath: written }) : undefined
  await forgetDumped(job, written)
  if (stop.reason === 'lost') throw new LostExecution()
  const { counts } = tally
  if (saved && saved.kept !== 'as-state') {
    const error = `The state could not be saved: ${saved.reason?.replace(/\.$/, '')}. ${WHERE[saved.kept]}`
    await output.say('error', error)
    return { status: 'errored', error, counts }
  }
  // What was done before it could be stopped is done.
  if (code === 0) return { status: 'finished', counts }
  if (stop.reason) return { ...(await stoppedOutcome(job, stop.reason)), counts }
  return {
    status: 'errored',
    error: tally.error ? `the apply failed: ${tally.error}` : 'the apply failed',
    counts,
  }
}

/** Where the engine has left the state. */
function findState({ cwd, statePath }: ReadyJob): string {
  const errored = join(cwd, ERRORED_STATE)
  return existsSync(errored) ? errored : statePath
}

const WHERE = {
  apart: 'It is kept as the errored state of this apply, and can be fetched there',
  here: 'It lies in the directory lost-states of the machine that carried out the run',
}
