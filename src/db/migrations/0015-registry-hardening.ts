import { type Kysely, sql } from 'kysely'
import { readExpiry } from '../../lib/openpgp.ts'

/** Quotas of the registry, tokens that are limited to providers, and when signing keys expire. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_quotas')
    .addColumn('organization_id', 'text', (column) =>
      column.primaryKey().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.alterTable('tokens').addColumn('registry_provider_ids', 'text').execute()
  await addExpiry(db, 'gpg_keys', 'expires_at')
  await addExpiry(db, 'registry_provider_versions', 'key_expires_at')
}

/** What is there already has its keys in armor, which only a program can read. */
async function addExpiry(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  await db.schema.alterTable(table).addColumn(column, 'text').execute()
  const rows = await sql<{
    armor: string
  }>`select distinct ascii_armor as armor from ${sql.table(table)}`.execute(db)
  for (const { armor } of rows.rows) {
    const expiresAt = await readExpiry(armor)
    if (!expiresAt) continue
    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${expiresAt}
      where ascii_armor = ${armor}`.execute(db)
  }
}
