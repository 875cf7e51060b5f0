import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Assignment, LostExecution, StateRefused } from './channel.ts'
import { outFile, type ReadyJob } from './job.ts'
import type { EngineOptions } from './options.ts'
import { retry } from './retry.ts'

const SAVE_MS = 10_000
const KEEP_MS = 600_000

/** A state beyond this size is believed to be whole. */
const MOST_PARSED = 128 * 2 ** 20

/** The digest of a file, or undefined when there is none; two states are the same when theirs are. */
export async function digestOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** What has become of a state: it is the workspace's, it is kept apart, or it lies on this machine. */
export type Saved = { kept: 'as-state' | 'apart' | 'here'; reason: string | undefined }

/**
 * Saves what an engine has left as the state, however it ended. What the server does not take is kept apart, and if
 * that fails too, it stays on this machine.
 */
export async function saveState(job: ReadyJob): Promise<Saved> {
  const reason = await trySave(job)
  if (reason === undefined) return { kept: 'as-state', reason }
  const { assignment, options, statePath, signal } = job
  const kept = await keepApart(job.channel, assignment, statePath, options, signal)
  return { kept, reason }
}

/** Returns why it could not be saved. */
async function trySave(job: ReadyJob): Promise<string | undefined> {
  const { channel, assignment, statePath, options, stop, signal } = job
  if (stop.reason === 'lost') return 'the run was given to another worker'
  if (!(await isWhole(statePath))) return 'the engine was killed while it wrote it'
  const json = await showState(job)
  try {
    const patience = { forMs: options.saveMs ?? SAVE_MS, signal }
    await retry(() => channel.saveState(assignment.executionId, statePath, json), patience)
    return undefined
  } catch (error) {
    if (error instanceof LostExecution) stop.request('lost')
    else if (!(error instanceof StateRefused)) {
      options.log.warn({ err: error, run: assignment.run.id }, 'a state could not be saved')
    }
    return (error as Error).message
  }
}

/** The state as JSON for people and programs; it is no more than a convenience. */
async function showState(job: ReadyJob): Promise<string | undefined> {
  const { engine, statePath, options, assignment } = job
  const path = outFile(job, 'state.json')
  try {
    await engine.show(['show', '-json', '-no-color', statePath], path)
    return path
  } catch (error) {
    options.log.warn({ err: error, run: assignment.run.id }, 'a state could not be shown as JSON')
    return undefined
  }
}

/** Keeps a state that cannot be the workspace's: by the recovery link, or else on this machine. */
export async function keepApart(
  channel: { keepErroredState: (assignment: Assignment, path: string) => Promise<void> },
  assignment: Assignment,
  path: string,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<'apart' | 'here'> {
  const { log, keepMs = KEEP_MS, workDir } = options
  try {
    await retry(() => channel.keepErroredState(assignment, path), { forMs: keepMs, signal })
    log.warn(
      { run: assignment.run.id },
      'a state could not be saved, and is kept as the errored state of the apply',
    )
    return 'apart'
  } catch (error) {
    const directory = join(workDir, 'lost-states')
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const place = join(directory, `${assignment.run.id}.tfstate`)
    await copyFile(path, place)
    log.error(
      { err: error, run: assignment.run.id, path: place },
      'a state could only be kept on this machine',
    )
    return 'here'
  }
}

async function isWhole(path: string): Promise<boolean> {
  if ((await stat(path)).size > MOST_PARSED) return true
  try {
    const state = JSON.parse(await readFile(path, 'utf8'))
    return typeof state.serial === 'number'
  } catch {
    return false
  }
}
