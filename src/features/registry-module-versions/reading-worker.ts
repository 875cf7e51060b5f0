import { parentPort, workerData } from 'node:worker_threads'
import { describeModule } from '../../lib/module-description.ts'
import type { Result } from './reading.ts'

// What `reading.ts` runs beside the requests.

parentPort?.postMessage({ description: await describeModule(workerData) } satisfies Result)
