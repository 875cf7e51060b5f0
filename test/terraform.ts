import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'vitest'

// Some tests drive the real command line. Without one they alone are left out, which the last lines of the
// run say; where CI is set they fail instead, so that nobody takes a run without them for a whole one.

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test may not run on this machine; tests left out for one reason are reported together. */
    needs?: string
  }
}

const MISSING = 'no terraform or tofu on PATH, and PLINTH_TERRAFORM is not set'

/** The binary that PLINTH_TERRAFORM names, or else the first `terraform` or `tofu` on PATH. */
export function findTerraform(environment = process.env): string | undefined {
  const chosen = environment['PLINTH_TERRAFORM']
  if (chosen) return chosen
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
  return ['terraform', 'tofu']
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The CLI waits more than it works; beside other tests it waits longer. */
const PATIENCE_MS = 60_000

/** Declares a test that drives the real CLI, and gives it the binary's path. */
export function testWithTerraform(
  name: string,
  run: (terraform: string) => Promise<void>,
  timeout = PATIENCE_MS,
): void {
  const terraform = findTerraform()
  const options = {
    meta: { needs: `that drive the real CLI: ${MISSING}` },
    timeout,
  }
  test.skipIf(!terraform && !process.env['CI'])(name, options, async () => {
    if (!terraform) throw new Error(MISSING)
    await run(terraform)
  })
}
