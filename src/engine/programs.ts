import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long a killed program is waited for: one that hangs in the system cannot be ended. */
const KILLED_MS = 5_000

/** Ends what works in a directory, whoever has started it: gently, and after a while at once. */
export async function endPrograms(directory: string, graceMs: number): Promise<void> {
  const started = performance.now()
  if (graceMs > 0) for (const pid of programsIn(directory)) send(pid, 'SIGINT')
  for (let left = programsIn(directory); left.length > 0; left = programsIn(directory)) {
    const waited = performance.now() - started
    if (waited >= graceMs + KILLED_MS) return
    if (waited >= graceMs) for (const pid of left) send(pid, 'SIGKILL')
    await sleep(50)
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
