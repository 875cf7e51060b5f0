import { Worker } from 'node:worker_threads'
import type { StagedBytes } from '../../blobs/blob-store.ts'
import { AppError } from '../../lib/errors.ts'
import { parseStateFile, type StateFile, StateFileError } from '../../lib/state-file.ts'

/** Larger states are parsed beside the requests, which would all wait for it otherwise. */
const PARSED_HERE = 256 * 1024

/** Memory that parsing a state may take, in MB: several times the size of the largest that is worth parsing. */
const WORKER_MEMORY = 4096

/** A raw state that was received, with what is in it. */
export interface ReceivedState {
  raw: StagedBytes
  file: StateFile
  /** The same in the form of `terraform show -json`. */
  json?: StagedBytes | undefined
}

/**
 * Reads what is in a raw state. Outside of transactions, which would all wait for it. Throws 412 when its MD5 is not
 * `md5`, and 422 when it is no state.
 */
export async function inspect(raw: StagedBytes, md5?: string): Promise<StateFile> {
  const bytes = await raw.read()
  try {
    return bytes.length <= PARSED_HERE ? parseStateFile(bytes, md5) : await parseBeside({ bytes, md5 })
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error
    if (error.isOther)
      throw new AppError('preconditionFailed', `This is another state: ${error.message}.`, { cause: error })
    throw new AppError('unprocessable', `This is not a state: ${error.message}.`, { cause: error })
  }
}

/** What the thread that parses is given. */
export interface Task {
  bytes: Uint8Array
  md5: string | undefined
}

/** What it answers. */
export type Result = { file: StateFile } | { problem: string; isOther: boolean }

function parseBeside(task: Task): Promise<StateFile> {
  const worker = new Worker(new URL('./inspection-worker.ts', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_MEMORY },
  })
  return new Promise<StateFile>((resolve, reject) => {
    worker.once('message', (result: Result) => {
      if ('file' in result) resolve(result.file)
      else reject(new StateFileError(result.problem, result))
    })
    worker.once('error', (error: NodeJS.ErrnoException) => {
      const full = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      reject(full ? new StateFileError('it takes too much memory to read') : error)
    })
  }).finally(() => worker.terminate())
}
