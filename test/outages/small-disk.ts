import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why a test that needs a disk of its own may be left out. */
export const NEEDS_MOUNT = 'that fill a disk: they need root and the right to mount a tmpfs'

/** A file system of its own, so that it can really be full. */
export class SmallDisk {
  readonly path: string

  constructor(megabytes: number) {
    this.path = mkdtempSync(join(tmpdir(), 'plinth-disk-'))
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', this.path]
    const { status, stderr, error } = spawnSync('mount', options, { encoding: 'utf8' })
    if (status === 0) return
    rmSync(this.path, { recursive: true })
    throw new Error(`mount failed: ${stderr ?? error}`)
  }

  /** Whether this machine lets us make one. */
  static isPossible(): boolean {
    try {
      new SmallDisk(1).remove()
      return true
    } catch {
      return false
    }
  }

  /** Leaves not a byte. */
  fill(): void {
    const file = openSync(this.#filler, 'a')
    try {
      for (const piece of [1 << 20, 4096, 1]) writeUntilFull(file, Buffer.alloc(piece))
    } finally {
      closeSync(file)
    }
  }

  makeRoom(): void {
    rmSync(this.#filler)
  }

  remove(): void {
    // Detached at once also when something still has a file open there.
    spawnSync('umount', ['--lazy', this.path])
    rmSync(this.path, { recursive: true, force: true })
  }

  get #filler(): string {
    return join(this.path, 'filler')
  }
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) === piece.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
