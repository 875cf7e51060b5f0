import { Worker } from 'node:worker_threads'
import type { StagedBlob } from '../../blobs/blob-store.ts'
import { AppError } from '../../lib/errors.ts'
import { DocsError } from '../../lib/provider-doc-files.ts'
import { type DocFiles, type DocPage, readDocs, unpackDocs } from '../../lib/provider-docs.ts'

/** Bytes of pages beyond which they are read beside the requests, which would all wait for it otherwise. */
const READ_HERE = 64 * 1024

/** How long reading may take, and what memory, in MB: the pages are anybody's. */
const READING_MS = 120_000
const READING_MEMORY = 512

/** What the thread that reads answers. */
export type Result = { pages: DocPage[] } | { problem: string }

/** The pages in an uploaded archive; 422 for one that cannot be read. */
export async function readArchive(staged: StagedBlob): Promise<DocPage[]> {
  const result = await unpackDocs(staged.stream(), staged.size).then(read, problemOf)
  if ('pages' in result) return result.pages
  throw new AppError('unprocessable', `The documentation is refused: ${result.problem}.`)
}

async function read(files: DocFiles): Promise<Result> {
  const size = [...files.values()].reduce((sum, { length }) => sum + length, 0)
  return size > READ_HERE ? readBeside(files) : readHere(files)
}

export function readHere(files: DocFiles): Promise<Result> {
  return readDocs(files).then((pages) => ({ pages }), problemOf)
}

function problemOf(error: unknown): Result {
  if (error instanceof DocsError) return { problem: error.message }
  throw error
}

function readBeside(files: DocFiles): Promise<Result> {
  const worker = new Worker(new URL('./reading-worker.ts', import.meta.url), {
    workerData: files,
    resourceLimits: { maxOldGenerationSizeMb: READING_MEMORY },
  })
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const timer = setTimeout(() => resolve({ problem: 'it takes too long to read' }), READING_MS)
  worker.once('message', resolve)
  worker.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ problem: 'it takes too much memory to read' })
    else reject(error)
  })
  return promise.finally(() => {
    clearTimeout(timer)
    return worker.terminate()
  })
}
