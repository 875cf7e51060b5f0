import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The server that handed this program out, and which build of it this is. */
export interface Origin {
  server: string
  build: string
}

/** From the package.json that a server packed; undefined in a clone. */
export async function readOrigin(): Promise<Origin | undefined> {
  const file = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8').catch(() => '{}')
  return (JSON.parse(file) as { plinth?: Origin }).plinth
}

/** The server is not waited for longer: it is a courtesy. */
const PATIENCE_MS = 3_000

/**
 * How to get the program that fits `server`, where this one came from there and is another one by now: npx fetches an
 * address once, and keeps what it got.
 */
export async function findNewer(server: URL, signal: AbortSignal): Promise<string | undefined> {
  const origin = await readOrigin()
  if (!origin || new URL(origin.server).origin !== server.origin) return undefined
  try {
    const response = await fetch(new URL('/cli.tgz', server), {
      headers: { 'if-none-match': `"${origin.build}"` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    await response.body?.cancel()
    const [, build] = /^"(\w+)"$/.exec(response.headers.get('etag') ?? '') ?? []
    if (!response.ok || !build || build === origin.build) return undefined
    return `npx --yes ${server.origin}/cli.tgz?${build}`
  } catch {
    return undefined
  }
}
