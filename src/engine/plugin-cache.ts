import { cp, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { newId } from '../lib/ids.ts'
import type { RunVariable } from './channel.ts'

// The engine's plugin cache is not safe for several `init` at once, and a run that may write to it can plant a
// provider that others will run. So every run has a cache of its own, which begins with links to what the shared
// cache holds. What `init` has added is moved to the shared cache, whole and at once, before anything of the
// configuration runs. In the sandbox the shared cache cannot be written to.

/** Where a package lies in a cache: host, namespace, type, version and platform. */
const DEPTH = 5

/** Where packages are until they are whole: in the shared cache, to be on its disk. No host has such a name. */
const STAGED = '.staged'

/** Variables by which a run could make the engine take a provider from somebody else than its registry. */
const MISLEADING =
  /^((https?|all|no)_proxy|ssl_cert_(file|dir)|hostaliases|localdomain|res_options|godebug)$/i

/** Fills the run's own cache with links to the shared one. */
export async function borrowPlugins(shared: string, own: string): Promise<void> {
  await mkdir(shared, { recursive: true, mode: 0o700 })
  for (const name of await listPackages(shared)) {
    await mkdir(dirname(join(own, name)), { recursive: true })
    await symlink(join(shared, name), join(own, name))
  }
}

/** Whether what `init` installs is what the registries have, so that other runs may use it. */
export function isTrustworthy(variables: readonly RunVariable[], bundled: string | undefined): boolean {
  return bundled === undefined && !variables.some(({ key }) => MISLEADING.test(key))
}

/** Moves what was installed into the run's own cache to the shared one, unless that has it already. */
export async function sharePlugins(shared: string, own: string): Promise<void> {
  for (const name of await listPackages(own)) {
    const source = join(own, name)
    const target = join(shared, name)
    const staged = join(shared, STAGED, newId('package'))
    await mkdir(dirname(staged), { recursive: true })
    await mkdir(dirname(target), { recursive: true })
    await move(source, staged)
    // Another run may have been first; its package is the same.
    await rename(staged, target).catch(() => rm(staged, { recursive: true, force: true }))
    await symlink(target, source)
  }
}

async function move(source: string, target: string): Promise<void> {
  try {
    await rename(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await cp(source, target, { recursive: true })
    await rm(source, { recursive: true, force: true })
  }
}

/** The packages of a cache that lie in it themselves, not those that it has links to. */
async function listPackages(cache: string): Promise<string[]> {
  let found = ['']
  for (let level = 0; level < DEPTH; level++) {
    const below = found.map(async (path) => {
      const entries = await readdir(join(cache, path), { withFileTypes: true }).catch(() => [])
      const directories = entries.filter((entry) => entry.isDirectory() && entry.name !== STAGED)
      return directories.map((entry) => join(path, entry.name))
    })
    found = (await Promise.all(below)).flat()
  }
  return found
}
