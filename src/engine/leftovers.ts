import { readdirSync, readlinkSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../lib/processes.ts'
import type { Assignment, Channel } from './channel.ts'
import { type Places, placesOf, removePlaces } from './directory.ts'
import type { EngineOptions } from './options.ts'
import { digestOf, keepApart } from './state.ts'

// A worker that was killed leaves directories behind, and perhaps an engine that goes on in one of them, with a state
// that nobody else has. The next worker ends the one and keeps the other.

const OWNER_FILE = 'owner.json'

/** How long an engine without a worker may take to end by itself. */
const GRACE_MS = 5_000

interface Owner {
  pid: number
  /** Without what a run must not leave on a disk. */
  assignment: Assignment
  /** Where the engine keeps the state, and the digest of what it was before. */
  state?: { path: string; digest: string | undefined }
}

/** Notes whose directory it is, and how a state in it could be saved. */
export async function recordOwner(
  places: Places,
  assignment: Assignment,
  state?: Owner['state'],
): Promise<void> {
  const harmless: Assignment = {
    ...assignment,
    ...{ terraformVariables: [], environmentVariables: [], sshKey: undefined, token: '' },
    run: { ...assignment.run, variables: [] },
  }
  const owner: Owner = { pid: process.pid, assignment: harmless, ...(state && { state }) }
  await writeFile(join(places.root, OWNER_FILE), JSON.stringify(owner), { mode: 0o600 })
}

/** Removes the directories of workers that are no more. */
export async function clearLeftovers(
  channel: Channel,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<void> {
  const names = await readdir(options.workDir).catch(() => [])
  for (const name of names.filter((entry) => entry.startsWith('run-'))) {
    const places = placesOf(options.workDir, name)
    const owner = await readOwner(places)
    if (owner && owner.pid !== process.pid && isAlive(owner.pid)) continue
    await endPrograms(places.root)
    if (owner?.state) await keepState(owner.assignment, owner.state, channel, options, signal)
    await removePlaces(places)
    options.log.info({ run: name }, 'what a killed worker left behind was removed')
  }
}

async function keepState(
  assignment: Assignment,
  { path, digest }: NonNullable<Owner['state']>,
  channel: Channel,
  options: EngineOptions,
  signal: AbortSignal,
): Promise<void> {
  const now = await digestOf(path)
  if (now === undefined || now === digest) return
  await keepApart(channel, assignment, path, options, signal)
}

async function readOwner(places: Places): Promise<Owner | undefined> {
  const text = await readFile(join(places.root, OWNER_FILE), 'utf8').catch(() => '{}')
  try {
    const owner = JSON.parse(text)
    return typeof owner.pid === 'number' ? owner : undefined
  } catch {
    // It was killed while it wrote this.
    return undefined
  }
}

/** Ends what still works in a directory: gently, then at once. */
async function endPrograms(directory: string): Promise<void> {
  const started = performance.now()
  for (const pid of programsIn(directory)) send(pid, 'SIGINT')
  while (programsIn(directory).length > 0) {
    const patient = performance.now() - started < GRACE_MS
    if (!patient) for (const pid of programsIn(directory)) send(pid, 'SIGKILL')
    await sleep(100)
  }
}

/** The processes of this machine whose working directory is in it; where that cannot be known there are none. */
function programsIn(directory: string): number[] {
  const inside = (pid: number) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${directory}/`)
    } catch {
      return false
    }
  }
  return processes().filter((pid) => pid !== process.pid && inside(pid))
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
