import { type Kysely, sql } from 'kysely'
import * as accounts from './migrations/0001-accounts.ts'
import * as workspaces from './migrations/0002-workspaces.ts'
import * as registry from './migrations/0003-registry.ts'
import * as jobs from './migrations/0004-jobs.ts'
import * as sessions from './migrations/0005-sessions.ts'
import * as listIndexes from './migrations/0006-list-indexes.ts'
import * as runs from './migrations/0010-runs.ts'
import * as state from './migrations/0011-state.ts'
import * as variables from './migrations/0012-variables.ts'
import * as agents from './migrations/0013-agents.ts'
import * as runSurroundings from './migrations/0014-run-surroundings.ts'
import * as registryHardening from './migrations/0015-registry-hardening.ts'
import * as providerLifecycle from './migrations/0016-provider-lifecycle.ts'
import * as modules from './migrations/0017-modules.ts'
import * as mirrors from './migrations/0018-mirrors.ts'
import * as registryLog from './migrations/0019-registry-log.ts'
import * as providerDocs from './migrations/0020-provider-docs.ts'

interface Migration {
  up: (db: Kysely<unknown>) => Promise<void>
}

/** The one numbered history, for both dialects. A released migration never changes. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-accounts': accounts,
  '0002-workspaces': workspaces,
  '0003-registry': registry,
  '0004-jobs': jobs,
  '0005-sessions': sessions,
  '0006-list-indexes': listIndexes,
  '0010-runs': runs,
  '0011-state': state,
  '0012-variables': variables,
  '0013-agents': agents,
  '0014-run-surroundings': runSurroundings,
  '0015-registry-hardening': registryHardening,
  '0016-provider-lifecycle': providerLifecycle,
  '0017-modules': modules,
  '0018-mirrors': mirrors,
  '0019-registry-log': registryLog,
  '0020-provider-docs': providerDocs,
}

/** The migrations of this Plinth, in order. */
export const MIGRATION_NAMES: readonly string[] = Object.keys(MIGRATIONS)

interface MigrationsTable {
  migrations: { name: string; appliedAt: string }
}

/**
 * Applies the migrations that the database has not seen, all of them or none. `lock` keeps a second server
 * that starts at the same moment waiting. Refuses a database that a newer Plinth has migrated.
 */
export async function migrate(database: Kysely<unknown>, lock: string | undefined): Promise<void> {
  const migrations = database as Kysely<MigrationsTable>
  await migrations.transaction().execute(async (tx) => {
    if (lock) await sql.raw(lock).execute(tx)
    await tx.schema
      .createTable('migrations')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('appliedAt', 'text', (column) => column.notNull())
      .execute()
    const applied = new Set(
      (await tx.selectFrom('migrations').select('name').execute()).map((row) => row.name),
    )
    const unknown = [...applied].find((name) => !(name in MIGRATIONS))
    if (unknown)
      throw new Error(`the database was migrated by a newer Plinth (${unknown}); upgrade this server`)
    for (const [name, migration] of Object.entries(MIGRATIONS)) {
      if (applied.has(name)) continue
      await migration.up(tx as unknown as Kysely<unknown>)
      await tx.insertInto('migrations').values({ name, appliedAt: new Date().toISOString() }).execute()
    }
  })
}

/** The migrations that a database has seen, in order. */
export async function appliedMigrations(database: Kysely<unknown>): Promise<string[]> {
  const migrations = database as Kysely<MigrationsTable>
  const rows = await migrations.selectFrom('migrations').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}
