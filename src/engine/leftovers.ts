import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '../lib/processes.ts'
import type { Assignment, Channel } from './channel.ts'
import { type Places, placesOf, removePlaces } from './directory.ts'
import type { EngineOptions } from './options.ts'
import { endPrograms } from './programs.ts'
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
    engineVersions: [],
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
    await endPrograms(places.root, GRACE_MS)
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
