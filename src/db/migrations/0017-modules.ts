import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Modules of the registry with their versions, what these are described by, and what is left of deleted ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('registry_modules')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('registry_name', 'text', (column) => column.notNull())
    .addColumn('namespace', 'text')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('no_code', 'boolean', (column) => column.notNull())
    .$call(timestamps)
    .execute()
  await db.schema
    .createIndex('registry_modules_name')
    .unique()
    .on('registry_modules')
    .expression(sql`organization_id, registry_name, lower(coalesce(namespace, '')), lower(name), provider`)
    .execute()

  await db.schema
    .createTable('registry_module_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('module_id', 'text', (column) =>
      column.notNull().references('registry_modules.id').onDelete('cascade'),
    )
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('commit_sha', 'text')
    .addColumn('archive_blob', 'text', (column) => column.references('blobs.key'))
    .addColumn('warnings', 'text', (column) => column.notNull())
    .addColumn('published_at', 'text')
    .addColumn('deprecated_at', 'text')
    .addColumn('deprecation_reason', 'text')
    .addColumn('deprecation_link', 'text')
    .addColumn('created_by_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .$call(timestamps)
    .addUniqueConstraint('registry_module_versions_version', ['module_id', 'version'])
    .execute()

  await db.schema
    .createTable('registry_module_descriptions')
    .addColumn('version_id', 'text', (column) =>
      column.primaryKey().references('registry_module_versions.id').onDelete('cascade'),
    )
    .addColumn('content', 'text', (column) => column.notNull())
    .execute()

  await db.schema
    .createTable('registry_module_downloads')
    .addColumn('version_id', 'text', (column) =>
      column.primaryKey().references('registry_module_versions.id').onDelete('cascade'),
    )
    .addColumn('count', 'bigint', (column) => column.notNull())
    .execute()

  // Nothing at the consumers' side notices other contents of a version: modules have no lock file.
  await db.schema
    .createTable('registry_module_tombstones')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('sha256', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('registry_module_tombstones_release', [
      'organization_id',
      'name',
      'provider',
      'version',
      'sha256',
    ])
    .execute()
}

function timestamps<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
}
