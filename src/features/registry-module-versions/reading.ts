import { Worker } from 'node:worker_threads'
import { isConfiguration, type ModuleFiles } from '../../lib/module-archive.ts'
import type { ModuleDescription } from '../../lib/module-description.ts'

/** Characters of configuration beyond which it is read beside the requests, which would all wait for it otherwise. */
const READ_HERE = 16 * 1024

/** How long it may be read, and what memory that may take, in MB: it is anybody's. */
const READING_MS = 10_000
const READING_MEMORY = 256

/** What the thread that reads answers; without a description there is no configuration in the root. */
export interface Result {
  description: ModuleDescription | undefined
}

/** Reads what the files of an archive say of its module. Undefined when it holds none. */
export async function describe(files: ModuleFiles): Promise<ModuleDescription | undefined> {
  const configuration = [...files.texts].filter(([path]) => isConfiguration(path))
  const size = configuration.reduce((sum, [, text]) => sum + text.length, 0)
  if (size > READ_HERE) return inTurn(() => describeBeside(files))
  // The grammar takes some 10 MB, which a server that publishes no modules need not have.
  const { describeModule } = await import('../../lib/module-description.ts')
  return describeModule(files)
}

let last: Promise<unknown> = Promise.resolve()

/** One after the other: each may take some hundred MB. */
function inTurn<T>(read: () => Promise<T>): Promise<T> {
  const turn = last.then(read)
  last = turn.catch(() => undefined)
  return turn
}

function describeBeside(files: ModuleFiles): Promise<ModuleDescription | undefined> {
  const worker = new Worker(new URL('./reading-worker.ts', import.meta.url), {
    workerData: files,
    resourceLimits: { maxOldGenerationSizeMb: READING_MEMORY },
  })
  const { promise, resolve, reject } = Promise.withResolvers<ModuleDescription | undefined>()
  const timer = setTimeout(() => resolve(unread('it takes too long to read')), READING_MS)
  worker.once('message', ({ description }: Result) => resolve(description))
  worker.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(unread('it takes too much memory to read'))
    else reject(error)
  })
  return promise.finally(() => {
    clearTimeout(timer)
    return worker.terminate()
  })
}

/** A module that can be installed, of which nothing is known. */
function unread(reason: string): ModuleDescription {
  const nothing = { inputs: [], outputs: [], dependencies: [], provider_dependencies: [], resources: [] }
  const root = { path: '', name: '', readme: '', empty: true, ...nothing }
  const warnings = [`the configuration is not described: ${reason}`]
  return { root, submodules: [], examples: [], warnings }
}
