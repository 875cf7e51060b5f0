import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { ROOT } from './program.ts'

// The program of `npm start` in a few large files instead of a thousand small ones, for the tests that start it
// again and again: a start takes half the time. process.test.ts and others start it as operators do.

const SOURCES = join(ROOT, 'src')

/** Where packages are found that cannot be bundled. */
const CACHE = join(ROOT, 'node_modules/.cache')

let command: Promise<readonly string[]> | undefined

/** What starts the program, in place of `node src/start.js`; made once for each process of the tests. */
export function bundledCommand(): Promise<readonly string[]> {
  command ??= bundle()
  return command
}

async function bundle(): Promise<readonly string[]> {
  mkdirSync(CACHE, { recursive: true })
  const directory = mkdtempSync(join(CACHE, 'plinth-bundle-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const build = await rolldown({
    input: join(SOURCES, 'start.js'),
    platform: 'node',
    external: ['@node-rs/argon2', 'pg-native', 'pino', 'web-tree-sitter'],
    plugins: [atItsPlace],
  })
  // Or Node would look into each file for what kind of module it is.
  writeFileSync(join(directory, 'package.json'), '{"type": "module"}')
  try {
    await build.write({ dir: directory, format: 'esm' })
  } finally {
    await build.close()
  }
  return [process.execPath, join(directory, 'start.js')]
}

/** Modules that look for files beside them find those of the sources. */
const atItsPlace: Plugin = {
  name: 'at-its-place',
  transform(code, id) {
    if (!id.startsWith(SOURCES)) return null
    return code
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
  },
}
