import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../lib/errors.ts'
import { IDLE_TIMEOUT_MS } from './limits.ts'

/** Is aborted when the client leaves before it was answered, so that nothing is done for nobody. */
export function leaving({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  raw.once('close', () => {
    if (!raw.writableEnded)
      left.abort(new AppError('requestTimeout', 'The client left before it was answered.'))
  })
  return left.signal
}

/** Does what may take longer than a connection can otherwise be silent. */
export async function atLength<T>({ raw }: FastifyRequest, work: () => Promise<T>): Promise<T> {
  raw.socket.setTimeout(0)
  try {
    return await work()
  } finally {
    raw.socket.setTimeout(IDLE_TIMEOUT_MS)
  }
}
