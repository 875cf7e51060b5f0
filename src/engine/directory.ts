import { existsSync } from 'node:fs'
import { mkdir, realpath, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ConfigurationError } from './slug.ts'

/** The places of one run. They are the same in both of its phases, because a plan remembers paths. */
export interface Places {
  root: string
  /** The configuration as it was uploaded. */
  config: string
  home: string
  temporary: string
  plugins: string
  variables: string
  /** What the engine writes for us: the plan, and what it says about it. */
  out: string
  state: string
}

export function placesOf(workDir: string, runId: string): Places {
  const root = join(workDir, runId)
  return {
    root,
    config: join(root, 'config'),
    home: join(root, 'home'),
    temporary: join(root, 'tmp'),
    plugins: join(root, 'plugins'),
    variables: join(root, 'variables'),
    out: join(root, 'out'),
    state: join(root, 'state'),
  }
}

/** Makes the places anew; only the user of this process may look into them. */
export async function makePlaces(places: Places): Promise<void> {
  await rm(places.root, { recursive: true, force: true })
  await mkdir(places.root, { recursive: true, mode: 0o700 })
  for (const place of Object.values(places)) await mkdir(place, { recursive: true, mode: 0o700 })
}

/** Where the engine runs: the working directory of the workspace, inside the configuration. */
export async function findWorkingDirectory(config: string, workingDirectory: string): Promise<string> {
  const root = await realpath(config)
  const path = join(root, workingDirectory)
  const place = existsSync(path) ? await realpath(path) : undefined
  if (!place || !(await stat(place)).isDirectory() || relative(root, place).split('/')[0] === '..') {
    throw new ConfigurationError(`it has no directory ${JSON.stringify(workingDirectory)}`)
  }
  return place
}

/** Removes the places; what still writes into them makes it take another try. */
export async function removePlaces({ root }: Places): Promise<void> {
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
