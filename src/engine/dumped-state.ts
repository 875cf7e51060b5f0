import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ReadyJob } from './job.ts'

/** Writes a state that was printed into a file; for room, what the run needs no more is removed. */
export async function writeDumped({ places, statePath }: ReadyJob, state: string): Promise<string> {
  for (const path of [places.temporary, places.home, places.out]) {
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { mode: 0o700 })
  }
  try {
    await writeFile(statePath, state, { mode: 0o600 })
    return statePath
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    // Others fill the disk too.
    const path = join(await mkdtemp(join(tmpdir(), 'plinth-state-')), 'terraform.tfstate')
    await writeFile(path, state, { mode: 0o600 })
    return path
  }
}

/** Removes what was written beside the places of the run. */
export async function forgetDumped({ places }: ReadyJob, path: string): Promise<void> {
  if (!path.startsWith(places.root)) await rm(dirname(path), { recursive: true, force: true })
}
