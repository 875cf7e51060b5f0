import { createHash } from 'node:crypto'

/** Tokens are random, so a fast hash is enough to make the stored form useless to a thief. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
