import { type Kysely, sql } from 'kysely'

interface Migration {
  up: (db: Kysely<unknown>) => Promise<void>
}

/**
 * The one numbered history, for both dialects. A released migration never changes. Each is loaded when it is applied:
 * most starts apply none.
 */
const MIGRATIONS: Record<string, () => Promise<Migration>> = {
  '0001-accounts': () => import('./migrations/0001-accounts.ts'),
  '0002-workspaces': () => import('./migrations/0002-workspaces.ts'),
  '0003-registry': () => import('./migrations/0003-registry.ts'),
  '0004-jobs': () => import('./migrations/0004-jobs.ts'),
  '0005-sessions': () => import('./migrations/0005-sessions.ts'),
  '0006-list-indexes': () => import('./migrations/0006-list-indexes.ts'),
  '0010-runs': () => import('./migrations/0010-runs.ts'),
  '0011-state': () => import('./migrations/0011-state.ts'),
  '0012-variables': () => import('./migrations/0012-variables.ts'),
  '0013-agents': () => import('./migrations/0013-agents.ts'),
  '0014-run-surroundings': () => import('./migrations/0014-run-surroundings.ts'),
  '0015-registry-hardening': () => import('./migrations/0015-registry-hardening.ts'),
  '0016-provider-lifecycle': () => import('./migrations/0016-provider-lifecycle.ts'),
  '0017-modules': () => import('./migrations/0017-modules.ts'),
  '0018-mirrors': () => import('./migrations/0018-mirrors.ts'),
  '0019-registry-log': () => import('./migrations/0019-registry-log.ts'),
  '0020-provider-docs': () => import('./migrations/0020-provider-docs.ts'),
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
    for (const [name, load] of Object.entries(MIGRATIONS)) {
      if (applied.has(name)) continue
      const migration = await load()
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
