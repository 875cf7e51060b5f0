import { sql } from 'kysely'
import type { Db } from './transaction.ts'

/** Throws when the database does not answer. */
export async function checkDatabase(db: Db): Promise<void> {
  await sql`select 1`.execute(db)
}
