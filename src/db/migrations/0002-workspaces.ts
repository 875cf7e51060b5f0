import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Projects, workspaces, and the tags on them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('projects')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(ownedByOrganization)
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('auto_destroy_activity_duration', 'text')
    .addColumn('default_execution_mode', 'text')
    .$call(timestamps)
    .execute()
  await db.schema
    .createIndex('projects_name')
    .unique()
    .on('projects')
    .expression(sql`organization_id, lower(name)`)
    .execute()

  await createWorkspaces(db)

  await db.schema
    .createTable('tag_bindings')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('project_id', 'text', (column) => column.references('projects.id').onDelete('cascade'))
    .addColumn('workspace_id', 'text', (column) => column.references('workspaces.id').onDelete('cascade'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .$call(timestamps)
    .execute()
  await db.schema
    .createIndex('tag_bindings_project')
    .unique()
    .on('tag_bindings')
    .columns(['project_id', 'key'])
    .execute()
  await db.schema
    .createIndex('tag_bindings_workspace')
    .unique()
    .on('tag_bindings')
    .columns(['workspace_id', 'key'])
    .execute()

  await db.schema
    .createTable('tags')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(ownedByOrganization)
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('tags_name', ['organization_id', 'name'])
    .execute()
  await db.schema
    .createTable('workspace_tags')
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('tag_id', 'text', (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('workspace_tags_key', ['workspace_id', 'tag_id'])
    .execute()
  await db.schema.createIndex('workspace_tags_tag').on('workspace_tags').column('tag_id').execute()

  await db.schema
    .createTable('reserved_tag_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(ownedByOrganization)
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('disable_overrides', 'boolean', (column) => column.notNull())
    .$call(timestamps)
    .addUniqueConstraint('reserved_tag_keys_key', ['organization_id', 'key'])
    .execute()
}

async function createWorkspaces(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('workspaces')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(ownedByOrganization)
    .addColumn('project_id', 'text', (column) => column.notNull().references('projects.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('execution_mode', 'text')
    .addColumn('terraform_version', 'text', (column) => column.notNull())
    .addColumn('working_directory', 'text', (column) => column.notNull())
    .addColumn('auto_apply', 'boolean', (column) => column.notNull())
    .addColumn('auto_apply_run_trigger', 'boolean', (column) => column.notNull())
    .addColumn('allow_destroy_plan', 'boolean', (column) => column.notNull())
    .addColumn('assessments_enabled', 'boolean', (column) => column.notNull())
    .addColumn('file_triggers_enabled', 'boolean', (column) => column.notNull())
    .addColumn('global_remote_state', 'boolean', (column) => column.notNull())
    .addColumn('project_remote_state', 'boolean', (column) => column.notNull())
    .addColumn('queue_all_runs', 'boolean', (column) => column.notNull())
    .addColumn('speculative_enabled', 'boolean', (column) => column.notNull())
    .addColumn('structured_run_output_enabled', 'boolean', (column) => column.notNull())
    .addColumn('trigger_prefixes', 'text', (column) => column.notNull())
    .addColumn('trigger_patterns', 'text', (column) => column.notNull())
    .addColumn('source_name', 'text')
    .addColumn('source_url', 'text')
    .addColumn('auto_destroy_at', 'text')
    .addColumn('auto_destroy_activity_duration', 'text')
    .addColumn('inherits_project_auto_destroy', 'boolean', (column) => column.notNull())
    .addColumn('locked', 'boolean', (column) => column.notNull())
    .addColumn('locked_reason', 'text')
    .addColumn('locked_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('locked_by_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .$call(timestamps)
    .execute()
  await db.schema
    .createIndex('workspaces_name')
    .unique()
    .on('workspaces')
    .expression(sql`organization_id, lower(name)`)
    .execute()
  await db.schema.createIndex('workspaces_project').on('workspaces').column('project_id').execute()
}

function ownedByOrganization<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table.addColumn('organization_id', 'text', (column) =>
    column.notNull().references('organizations.id').onDelete('cascade'),
  )
}

function timestamps<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
}
