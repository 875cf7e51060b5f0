import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

// Tests write into memory where they can: each of their hundreds of servers would otherwise wait for the disk at each
// commit. What they prove does not depend on it: processes are killed, machines are not.

const MEMORY = '/dev/shm'

/** Enough for the databases and files of the whole suite, several times over. */
const ENOUGH_BYTES = 8 << 30

/** Makes `os.tmpdir()` a directory in memory, for this process and those it starts, if there is one to be had. */
export function setup(): () => void {
  if (process.env['TMPDIR'] || !isUsable()) return () => {}
  const directory = mkdtempSync(join(MEMORY, 'plinth-'))
  // PostgreSQL runs as another user.
  chmodSync(directory, 0o711)
  process.env['TMPDIR'] = directory
  return () => rmSync(directory, { recursive: true, force: true })
}

/** Programs are run from there as well, which containers often forbid. */
function isUsable(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === MEMORY)
    return mount !== undefined && !mount.includes('noexec') && bavail * bsize > ENOUGH_BYTES
  } catch {
    return false
  }
}
