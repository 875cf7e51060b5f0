import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Ctx, Services } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { AppError } from '../../lib/errors.ts'
import { addSeconds } from '../../lib/time.ts'
import * as store from './store.ts'

/** Whom somebody tries to be, or from where. An account is what was typed, whether it exists or not. */
export type Source = { address: string } | { account: string }

/** Attempts before the first delay. Many people may share an address. */
const FREE_ATTEMPTS = { account: 5, address: 20 }

const FIRST_DELAY_SECONDS = 15

/** Locks nobody out for good: whoever knows a name could do that to its owner. */
const LONGEST_DELAY_SECONDS = 15 * 60

const FORGET_SECONDS = 24 * 3600

/**
 * Makes an attempt on behalf of `sources`; `attempt` returns undefined when it fails. Every attempt is counted
 * before it is made, so that many at once do not slip through. After a few that failed comes a delay that
 * doubles with each further one; during it the answer is 429, whether the attempt would have succeeded or not.
 */
export async function guard<T>(
  services: Services,
  sources: readonly Source[],
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  await inTransaction(services, async (tx) => {
    for (const source of sources) await count(tx, source)
  })
  const result = await attempt()
  if (result !== undefined) {
    await inTransaction(services, async (tx) => {
      for (const source of sources) await forgive(tx, source)
    })
  }
  return result
}

/** Forgets attempts that no longer count. */
export function removeForgotten(ctx: Ctx): Promise<void> {
  return inTransaction(ctx, (tx) => store.removeForgotten(tx.db, tx.now()))
}

async function count(tx: Services, source: Source): Promise<void> {
  const key = keyOf(source)
  const now = tx.now()
  const attempts = await store.count(tx.db, key, { now, forgottenAt: addSeconds(now, FORGET_SECONDS) })
  if (attempts === undefined) {
    throw tooMany(secondsBetween(now, (await store.findBlockedUntil(tx.db, key)) ?? now))
  }
  const excess = attempts - ('account' in source ? FREE_ATTEMPTS.account : FREE_ATTEMPTS.address)
  if (excess < 0) return
  const delay = Math.min(FIRST_DELAY_SECONDS * 2 ** Math.min(excess, 20), LONGEST_DELAY_SECONDS)
  await store.block(tx.db, key, addSeconds(now, delay))
}

/** An account's slate is wiped clean; an address keeps what it did to other accounts. */
function forgive(tx: Services, source: Source): Promise<void> {
  const key = keyOf(source)
  return 'account' in source ? store.remove(tx.db, key) : store.uncount(tx.db, key, tx.now())
}

function keyOf(source: Source): string {
  const text =
    'account' in source
      ? `account:${source.account.trim().normalize('NFKC').toLowerCase()}`
      : `address:${networkOf(source.address)}`
  return createHash('sha256').update(text).digest('hex')
}

/** IPv6 addresses count by their network of 64 bits: a single machine has all of it. */
function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped || !isIPv6(address)) return mapped ?? address
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const end = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - groups.length - end.length
  return [...groups, ...Array<string>(zeros).fill('0'), ...end]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

function secondsBetween(from: string, to: string): number {
  return Math.max(1, Math.ceil((Date.parse(to) - Date.parse(from)) / 1000))
}

function tooMany(retryAfter: number): AppError {
  return new AppError(
    'tooManyRequests',
    `Too many attempts have failed. Try again in ${retryAfter} seconds.`,
    {
      retryAfter,
    },
  )
}
