import { parentPort, workerData } from 'node:worker_threads'
import { parseStateFile, StateFileError } from '../../lib/state-file.ts'
import type { Result, Task } from './inspection.ts'

// What `inspection.ts` runs beside the requests.

parentPort?.postMessage(run(workerData as Task))

function run({ bytes, md5 }: Task): Result {
  try {
    return { file: parseStateFile(bytes, md5) }
  } catch (error) {
    if (!(error instanceof StateFileError)) throw error
    return { problem: error.message, isOther: error.isOther }
  }
}
