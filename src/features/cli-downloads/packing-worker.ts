import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'

// What `packing.ts` runs beside the requests: the compiler that strips types takes 20 MB, which end with the thread.

const ROOT = join(import.meta.dirname, '../../..')
const START = 'cli/src/main.ts'

/** That of every file that npm packs: some tools take no earlier one. */
const MTIME = new Date('1985-10-26T08:15:00Z')

/** Of relative modules, as the formatter writes them: `from './x.ts'`, `import('./x.ts')`. */
const SPECIFIER = /(?<=\b(?:from |import )'|\bimport\(')(\.[^']*)\.ts(?=')/g

parentPort?.postMessage(await packProgram(workerData as string))

/** The program with all that it imports of ours, as npm installs it. */
async function packProgram(server: string): Promise<Uint8Array> {
  const tar = pack()
  const add = (path: string, text: string) => {
    tar.entry({ name: `package/${path}`, mode: path === toJs(START) ? 0o755 : 0o644, mtime: MTIME }, text)
  }
  add('package.json', manifestOf(server))
  add('LICENSE', read('LICENSE'))
  for (const [path, code] of listModules()) add(toJs(path), code.replace(SPECIFIER, '$1.js'))
  tar.finalize()
  return buffer(tar.pipe(createGzip({ level: 9 })))
}

/** The modules that the program reaches when it runs, as JavaScript, in an order that is always the same. */
function listModules(): [path: string, code: string][] {
  const modules = new Map<string, string>()
  const reached = new Set([START])
  for (const path of reached) {
    const code = stripTypeScriptTypes(read(path))
    modules.set(path, code)
    for (const [, specifier] of code.matchAll(SPECIFIER)) {
      reached.add(posix.join(dirname(path), `${specifier}.ts`))
    }
  }
  return [...modules].sort(([a], [b]) => (a < b ? -1 : 1))
}

function manifestOf(server: string): string {
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(
    read('cli/package.json'),
  )
  const bin = { plinth: toJs(START) }
  // Where the program looks for a server when nobody names one.
  const plinth = { server }
  return `${JSON.stringify({ name, version, description, license, type, engines, bin, dependencies, plinth }, null, 2)}\n`
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function toJs(path: string): string {
  return path.replace(/\.ts$/, '.js')
}
