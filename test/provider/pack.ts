import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { makeArchive } from '../registry.ts'

/** The type of the provider, as in `terraform-provider-<type>`. */
export const FIXTURE = 'fixture'

let script: Promise<string> | undefined

/**
 * The archive of a release of the fixture provider, for the platform of this machine: it runs on the Node.js that
 * runs the tests.
 */
export async function packProvider(version: string): Promise<Buffer> {
  return makeArchive(FIXTURE, version, await providerScript())
}

/** The whole provider as one file that can be executed. */
export function providerScript(): Promise<string> {
  script ??= bundle()
  return script
}

async function bundle(): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL('./main.ts', import.meta.url)),
    platform: 'node',
  })
  try {
    const { output } = await build.generate({ format: 'cjs' })
    return START + output[0].code
  } finally {
    await build.close()
  }
}

// One line for the shell, which JavaScript takes for a string and a comment. As the main module the script would be
// what the next package.json above it says, or be refused for its name; what is required by its path is CommonJS.
const START = `#!/bin/sh
':' //; case $0 in /*) path=$0;; *) path=$PWD/$0;; esac; exec '${process.execPath}' --require "$path" --eval 0
`
