import type { Kysely } from 'kysely'

/** State: its versions, their outputs and resources, and who else may read it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('state_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer')
    .addColumn('serial', 'bigint', (column) => column.notNull())
    .addColumn('lineage', 'text', (column) => column.notNull())
    .addColumn('md5', 'text', (column) => column.notNull())
    .addColumn('size', 'bigint', (column) => column.notNull())
    .addColumn('force', 'boolean', (column) => column.notNull())
    .addColumn('intermediate', 'boolean', (column) => column.notNull())
    .addColumn('state_version', 'integer')
    .addColumn('terraform_version', 'text')
    .addColumn('resources_processed', 'boolean', (column) => column.notNull())
    .addColumn('announced_outputs', 'text')
    .addColumn('summary', 'text')
    .addColumn('digests', 'text')
    .addColumn('settled', 'boolean', (column) => column.notNull())
    .addColumn('blob_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('json_blob_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('run_id', 'text', (column) => column.references('runs.id').onDelete('set null'))
    .addColumn('created_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('created_by_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .addColumn('rollback_of_id', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('state_versions_sequence', ['workspace_id', 'sequence'])
    .execute()
  await db.schema
    .createIndex('state_versions_workspace')
    .on('state_versions')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute()
  await db.schema.createIndex('state_versions_run').on('state_versions').column('run_id').execute()

  await db.schema
    .createTable('state_version_outputs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('state_version_id', 'text', (column) =>
      column.notNull().references('state_versions.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('sensitive', 'boolean', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('detailed_type', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addUniqueConstraint('state_version_outputs_name', ['state_version_id', 'name'])
    .execute()

  await db.schema
    .createTable('workspace_resources')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('state_version_id', 'text', (column) =>
      column.notNull().references('state_versions.id').onDelete('cascade'),
    )
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('module', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('provider_type', 'text', (column) => column.notNull())
    .addColumn('name_index', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('workspace_resources_address', ['workspace_id', 'address'])
    .execute()

  await db.schema
    .createTable('remote_state_consumers')
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('consumer_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('remote_state_consumers_key', ['workspace_id', 'consumer_id'])
    .execute()
  await db.schema
    .createIndex('remote_state_consumers_consumer')
    .on('remote_state_consumers')
    .column('consumer_id')
    .execute()
}
