import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Packed } from './packing.ts'

// What `packing.ts` runs beside the requests: the compiler that strips types takes 20 MB, which end with the thread.

const ROOT = join(import.meta.dirname, '../../..')
const START = 'cli/src/main.ts'

/** Not in cli/package.json: npm would warn of it in a clone, where the program runs on the Node.js that npm brought. */
const ENGINES = { node: '>=22.18' }

/** That of every file that npm packs: some tools take no earlier one. */
const MTIME = new Date('1985-10-26T08:15:00Z')

/** Of relative modules, as the formatter writes them: `from './x.ts'`, `import('./x.ts')`. */
const SPECIFIER = /(?<=\b(?:from |import )'|\bimport\(')(\.[^']*)\.ts(?=')/g

parentPort?.postMessage(await packProgram(workerData as string))

/** The program with all that it imports of ours, as npm installs it. */
async function packProgram(server: string): Promise<Packed> {
  const files = new Map([['LICENSE', read('LICENSE')]])
  for (const [path, code] of listModules()) files.set(toJs(path), code.replace(SPECIFIER, '$1.js'))
  const manifest = readManifest()
  const build = createHash('sha256')
    .update(JSON.stringify([server, manifest, ...files]))
    .digest('hex')
    .slice(0, 16)
  // Where the program looks for a server when nobody names one, and by which it knows whether it is still the same.
  files.set('package.json', `${JSON.stringify({ ...manifest, plinth: { server, build } }, null, 2)}\n`)

  const tar = pack()
  for (const [path, text] of files) {
    tar.entry({ name: `package/${path}`, mode: path === toJs(START) ? 0o755 : 0o644, mtime: MTIME }, text)
  }
  tar.finalize()
  return { bytes: await buffer(tar.pipe(createGzip({ level: 9 }))), build }
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

function readManifest() {
  const { name, version, description, license, type, dependencies } = JSON.parse(read('cli/package.json'))
  return {
    name,
    version,
    description,
    license,
    type,
    engines: ENGINES,
    dependencies,
    bin: { plinth: toJs(START) },
  }
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function toJs(path: string): string {
  return path.replace(/\.ts$/, '.js')
}
