import { AsyncLocalStorage } from 'node:async_hooks'
import type { Kysely, Transaction } from 'kysely'
import type { Connection } from './connect.ts'
import type { Database } from './database.ts'

/** What a store function takes first: the reading handle, or the transaction it is part of. */
export type Db = Kysely<Database>

/** The part of a context that carries the database. */
export interface HasDatabase {
  db: Db
  connection: Connection
}

interface Scope {
  open: boolean
  effects: (() => void | Promise<void>)[]
}

const scopes = new AsyncLocalStorage<Scope>()

/**
 * Runs `work` in a transaction: the same context with `db` replaced. Called inside one, it joins it.
 * Everything `work` wrote is durable when the promise resolves, and gone when it rejects.
 */
export async function inTransaction<C extends HasDatabase, T>(
  ctx: C,
  work: (tx: C) => Promise<T>,
): Promise<T> {
  if (ctx.db.isTransaction) return work(ctx)
  if (scopes.getStore()?.open) throw new Error('a transaction is open; pass its context on')
  const scope: Scope = { open: true, effects: [] }
  const result = await scopes.run(scope, async () => {
    try {
      return await ctx.connection.writes
        .transaction()
        .execute((db: Transaction<Database>) => work({ ...ctx, db }))
    } finally {
      scope.open = false
    }
  })
  for (const effect of scope.effects) await effect()
  return result
}

/**
 * Runs `effect` once the open transaction has committed (never when it rolls back). For what lives outside
 * the database: files, caches, wake-ups.
 */
export function afterCommit(effect: () => void | Promise<void>): void {
  const scope = scopes.getStore()
  if (!scope?.open) throw new Error('afterCommit needs an open transaction')
  scope.effects.push(effect)
}

/**
 * The reading handle. Using it inside an open transaction throws: on PostgreSQL the query would silently
 * miss what the transaction wrote, and on the embedded database it would read the state before it.
 */
export function readingHandle(connection: Connection): Db {
  return connection.reads.withPlugin({
    transformQuery({ node }) {
      if (scopes.getStore()?.open) throw new Error('query outside the open transaction; use tx.db')
      return node
    },
    transformResult: async ({ result }) => result,
  })
}
