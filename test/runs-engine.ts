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
  const cases = Object.entries(seconds).map(([command, delay]) => `  ${command}) sleep ${delay} ;;`)
  scriptedEngine(
    directory,
    version,
    `case "$1" in\n${cases.join('\n')}\n  *) ;;\nesac\nexec ${terraform} "$@"\n`,
  )
}

/**
 * The same with an engine that does for the shell what the variables `BEFORE` and `AFTER` of its environment say, around
 * each of its commands, whose name is `$command`.
 */
export function watchedEngine(directory: string, version: string, terraform: string): void {
  const script = `command=$1\neval "$BEFORE"\n${terraform} "$@"\ncode=$?\neval "$AFTER"\nexit $code\n`
  scriptedEngine(directory, version, script)
}

/** Puts a script for the shell into the place of the engine of this version. */
export function scriptedEngine(directory: string, version: string, script: string): void {
  const home = join(directory, version)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'terraform'), `#!/bin/sh\n${script}`, { mode: 0o755 })
}
