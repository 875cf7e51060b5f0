import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Puts an engine of this version into a directory of engines: the real one, which takes its time. Each of its commands
 * waits as many seconds as are said here before it begins.
 */
export function slowEngine(
  directory: string,
  version: string,
  terraform: string,
  seconds: Partial<Record<'init' | 'plan' | 'apply', number>>,
): void {
  const home = join(directory, version)
  mkdirSync(home, { recursive: true })
  const cases = Object.entries(seconds).map(([command, delay]) => `  ${command}) sleep ${delay} ;;`)
  const script = `#!/bin/sh\ncase "$1" in\n${cases.join('\n')}\n  *) ;;\nesac\nexec ${terraform} "$@"\n`
  writeFileSync(join(home, 'terraform'), script, { mode: 0o755 })
}
