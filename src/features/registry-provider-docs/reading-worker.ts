import { parentPort, workerData } from 'node:worker_threads'
import { readHere } from './reading.ts'

// What `reading.ts` runs beside the requests.

parentPort?.postMessage(await readHere(workerData))
