import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Blobs, signing keys, and providers with their versions and platforms. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('blobs')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('gpg_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('ascii_armor', 'text', (column) => column.notNull())
    .$call(timestamps)
    .addUniqueConstraint('gpg_keys_key', ['organization_id', 'key_id'])
    .execute()

  await db.schema
    .createTable('registry_providers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('registry_name', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text')
    .addColumn('name', 'text', (column) => column.notNull())
    .$call(timestamps)
    .execute()
  await db.schema
    .createIndex('registry_providers_name')
    .unique()
    .on('registry_providers')
    .expression(sql`organization_id, registry_name, lower(coalesce(namespace, '')), lower(name)`)
    .execute()

  await db.schema
    .createTable('registry_provider_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('provider_id', 'text', (column) =>
      column.notNull().references('registry_providers.id').onDelete('cascade'),
    )
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('protocols', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('ascii_armor', 'text', (column) => column.notNull())
    .addColumn('shasums_blob', 'text', (column) => column.references('blobs.key'))
    .addColumn('signature_blob', 'text', (column) => column.references('blobs.key'))
    .addColumn('created_by_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .$call(timestamps)
    .addUniqueConstraint('registry_provider_versions_version', ['provider_id', 'version'])
    .execute()

  await db.schema
    .createTable('registry_provider_platforms')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version_id', 'text', (column) =>
      column.notNull().references('registry_provider_versions.id').onDelete('cascade'),
    )
    .addColumn('os', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('filename', 'text', (column) => column.notNull())
    .addColumn('shasum', 'text', (column) => column.notNull())
    .addColumn('binary_blob', 'text', (column) => column.references('blobs.key'))
    .addColumn('package_hash', 'text')
    .$call(timestamps)
    .addUniqueConstraint('registry_provider_platforms_platform', ['version_id', 'os', 'arch'])
    .addUniqueConstraint('registry_provider_platforms_filename', ['version_id', 'filename'])
    .execute()

  // What was released under a name stays on record after its deletion: lock files out there hold its digest.
  await db.schema
    .createTable('registry_provider_tombstones')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('provider_name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('os', 'text', (column) => column.notNull())
    .addColumn('arch', 'text', (column) => column.notNull())
    .addColumn('shasum', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('registry_provider_tombstones_release', [
      'organization_id',
      'provider_name',
      'version',
      'os',
      'arch',
      'shasum',
    ])
    .execute()
  await db.schema
    .alterTable('organizations')
    .addColumn('provider_version_reuse_enabled', 'boolean', (column) =>
      column.notNull().defaultTo(sql`false`),
    )
    .execute()
}

function timestamps<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
}
