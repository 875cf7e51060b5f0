import { Worker } from 'node:worker_threads'

/** An npm package, and which build it is: the same for the same program and server. */
export interface Packed {
  bytes: Uint8Array
  build: string
}

/**
 * The client command as an npm package, which Node.js can run where it is installed: types are gone, because Node.js
 * does not strip them below node_modules. `server` is the address that it speaks to unless told otherwise.
 */
export async function packClient(server: string): Promise<Packed> {
  const worker = new Worker(new URL('./packing-worker.ts', import.meta.url), {
    workerData: server,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  try {
    return await new Promise<Packed>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  } finally {
    await worker.terminate()
  }
}
