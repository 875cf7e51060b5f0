import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Assignment, Channel, Fetched, Produced } from './channel.ts'
import type { Places } from './directory.ts'
import type { Engine } from './engine.ts'
import type { RunLog } from './log.ts'
import type { EngineOptions } from './options.ts'
import type { Output } from './output.ts'
import { retry } from './retry.ts'
import type { Stop } from './stop.ts'

/** One phase of a run, on its way. */
export interface Job {
  assignment: Assignment
  channel: Channel
  options: EngineOptions
  places: Places
  log: RunLog
  output: Output
  stop: Stop
  /** Once it is aborted, the worker ends: what fails is not tried again. */
  signal: AbortSignal
  /** What must not be seen. */
  secrets: string[]
}

/** A phase whose directory is ready for the engine. */
export interface ReadyJob extends Job {
  engine: Engine
  /** The working directory. */
  cwd: string
  /** Where the engine keeps the state. */
  statePath: string
}

export const PLAN_FILE = 'tfplan'

/** Fetches a file of the run, all of it; returns whether there is one. */
export function fetchTo(job: Job, file: Fetched, path: string): Promise<boolean> {
  const { channel, assignment, signal } = job
  return retry(
    async () => {
      const content = await channel.fetch(assignment.executionId, file)
      if (!content) return false
      await pipeline(content, createWriteStream(path, { mode: 0o600 }))
      return true
    },
    { signal },
  )
}

/** Hands a file over. */
export function produce(job: Job, file: Produced, path: string): Promise<void> {
  const { channel, assignment, signal } = job
  return retry(() => channel.produce(assignment.executionId, file, path), { signal })
}

/** A file among those that the platform has the engine write. */
export function outFile(job: Job, name: string): string {
  return join(job.places.out, name)
}
