import { Client } from '../api/client.ts'
import { type ConnectionOptions, connectionOf, organizationOf } from '../connection.ts'
import type { Io } from '../io.ts'
import type { Observer } from '../observer.ts'
import { findNewer } from '../origin.ts'

/** What every command takes that speaks with a server. */
export interface SessionOptions extends ConnectionOptions {
  organization?: string
  retries: number
}

/** A client for the server and the organization that the options name. Nobody is asked for anything yet. */
export async function openSession(
  options: SessionOptions,
  io: Io,
  observe: Observer,
): Promise<{ client: Client; organization: string }> {
  const organization = organizationOf(options, io)
  const client = new Client(await connectionOf(options, io), {
    retries: options.retries,
    signal: io.signal,
    onRetry: (reason, delayMs) => observe({ type: 'retry', reason, delayMs }),
  })
  return { client, organization }
}

/** Says so where the server that handed this program out has another one by now. */
export async function tellOfNewer(client: Client, observe: Observer): Promise<void> {
  const newer = await findNewer(client.server, client.retries.signal)
  if (newer) observe({ type: 'step', text: `the server has another plinth by now; get it by: ${newer}` })
}
