import type { Kysely } from 'kysely'

/** The transparency log of registries: its records, where it ends, and the keys that sign it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_log_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('serial', 'integer', (column) => column.notNull().unique())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('private_key', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  // One row to lock for whoever appends, so that records of an organization come one after the other.
  await db.schema
    .createTable('registry_log_heads')
    .addColumn('organization_id', 'text', (column) =>
      column.primaryKey().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('registry_log_records')
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('signature', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('system', 'text')
    .addPrimaryKeyConstraint('registry_log_records_place', ['organization_id', 'sequence'])
    .execute()
  await db.schema
    .createIndex('registry_log_records_subject')
    .on('registry_log_records')
    .columns(['organization_id', 'kind', 'name', 'sequence'])
    .execute()
}
