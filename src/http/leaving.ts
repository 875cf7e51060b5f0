import type { FastifyReply } from 'fastify'
import { AppError } from '../lib/errors.ts'

/** Is aborted when the client leaves before it was answered, so that nothing is done for nobody. */
export function leaving({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  raw.once('close', () => {
    if (!raw.writableEnded)
      left.abort(new AppError('requestTimeout', 'The client left before it was answered.'))
  })
  return left.signal
}
