import { type Kysely, sql } from 'kysely'

/** What an organization mirrors of other registries' providers, and what it has kept of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('provider_mirrors')
    .addColumn('organization_id', 'text', (column) =>
      column.primaryKey().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('allowed_providers', 'text', (column) => column.notNull())
    .addColumn('unlisted_in_runs', 'text', (column) => column.notNull())
    .addColumn('trusted_keys', 'text', (column) => column.notNull())
    .addColumn('trust_on_first_use', 'boolean', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await createProviders(db)
  await createReleases(db)
}

async function createProviders(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mirrored_providers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('hostname', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('listing', 'text')
    .addColumn('listed_at', 'text')
    .addColumn('asked_at', 'text')
    .addColumn('key_fingerprints', 'text', (column) => column.notNull())
    .addColumn('last_error', 'text')
    .addColumn('last_error_at', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await unique(db, 'mirrored_providers', ['organization_id', 'hostname', 'namespace', 'name'])
}

async function createReleases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('mirrored_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('provider_id', 'text', (column) =>
      column.notNull().references('mirrored_providers.id').onDelete('cascade'),
    )
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('protocols', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('ascii_armor', 'text', (column) => column.notNull())
    .addColumn('trust_signature', 'text', (column) => column.notNull())
    .addColumn('shasums_blob', 'text', (column) => column.notNull())
    .addColumn('signature_blob', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await unique(db, 'mirrored_versions', ['provider_id', 'version'])
  await db.schema
    .createTable('mirrored_packages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version_id', 'text', (column) =>
      column.notNull().references('mirrored_versions.id').onDelete('cascade'),
    )
    .addColumn('os', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('shasum', 'text', (column) => column.notNull())
    .addColumn('package_hash', 'text')
    .addColumn('archive_blob', 'text')
    .addColumn('fetched_at', 'text')
    .execute()
  await unique(db, 'mirrored_packages', ['version_id', 'os', 'arch'])
}

async function unique(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  await sql`create unique index ${sql.ref(`${table}_address`)} on ${sql.table(table)}
    (${sql.join(columns.map((column) => sql.ref(column)))})`.execute(db)
}
