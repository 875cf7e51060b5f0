import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Runs with what they are made of: configuration versions, plans, applies, logs, and their execution. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createConfigurationVersions(db)
  await createRuns(db)
  await createPhases(db)
  await createLogs(db)
  await createExecutions(db)
  // Runs refer to their workspace already: a reference back would make a circle, and no run goes before it.
  await db.schema.alterTable('workspaces').addColumn('locked_by_run_id', 'text').execute()
  await db.schema.alterTable('workspaces').addColumn('current_run_id', 'text').execute()
  await db.schema
    .alterTable('blobs')
    .addColumn('workspace_id', 'text', (column) => column.references('workspaces.id').onDelete('cascade'))
    .execute()
  await db.schema
    .alterTable('blobs')
    .addColumn('sealed', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute()
  await db.schema.createIndex('blobs_workspace').on('blobs').column('workspace_id').execute()
}

async function createConfigurationVersions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('configuration_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .$call(ownedByWorkspace)
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('status_timestamps', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('speculative', 'boolean', (column) => column.notNull())
    .addColumn('provisional', 'boolean', (column) => column.notNull())
    .addColumn('auto_queue_runs', 'boolean', (column) => column.notNull())
    .addColumn('error', 'text')
    .addColumn('error_message', 'text')
    .addColumn('blob_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('created_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('created_by_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('configuration_versions_workspace')
    .on('configuration_versions')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute()
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .$call(ownedByWorkspace)
    .addColumn('configuration_version_id', 'text', (column) =>
      column.notNull().references('configuration_versions.id').onDelete('cascade'),
    )
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('status_timestamps', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('trigger_reason', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('terraform_version', 'text', (column) => column.notNull())
    .addColumn('execution_mode', 'text', (column) => column.notNull())
    .addColumn('agent_pool_id', 'text')
    .addColumn('is_destroy', 'boolean', (column) => column.notNull())
    .addColumn('refresh', 'boolean', (column) => column.notNull())
    .addColumn('refresh_only', 'boolean', (column) => column.notNull())
    .addColumn('plan_only', 'boolean', (column) => column.notNull())
    .addColumn('save_plan', 'boolean', (column) => column.notNull())
    .addColumn('auto_apply', 'boolean', (column) => column.notNull())
    .addColumn('allow_empty_apply', 'boolean', (column) => column.notNull())
    .addColumn('allow_config_generation', 'boolean', (column) => column.notNull())
    .addColumn('debugging_mode', 'boolean', (column) => column.notNull())
    .addColumn('structured_output', 'boolean', (column) => column.notNull())
    .addColumn('target_addrs', 'text', (column) => column.notNull())
    .addColumn('replace_addrs', 'text', (column) => column.notNull())
    .addColumn('variables', 'text', (column) => column.notNull())
    .addColumn('has_changes', 'boolean', (column) => column.notNull())
    .addColumn('canceled_at', 'text')
    .addColumn('created_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('created_by_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .addColumn('confirmed_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('runs_workspace')
    .on('runs')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute()
  await db.schema
    .createIndex('runs_organization')
    .on('runs')
    .columns(['organization_id', 'created_at', 'id'])
    .execute()
  await db.schema.createIndex('runs_status').on('runs').columns(['status', 'workspace_id']).execute()
  await db.schema
    .createIndex('runs_configuration_version')
    .on('runs')
    .column('configuration_version_id')
    .execute()
}

/** A plan and an apply of each run; they have the same columns as far as they are carried out. */
async function createPhases(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('plans')
    .$call(phase)
    .addColumn('has_changes', 'boolean', (column) => column.notNull())
    .addColumn('generated_configuration', 'boolean', (column) => column.notNull())
    .addColumn('plan_file_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('lock_file_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('json_output_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('json_output_redacted_key', 'text', (column) => column.references('blobs.key'))
    .addColumn('json_schema_key', 'text', (column) => column.references('blobs.key'))
    .execute()
  await db.schema.createTable('applies').$call(phase).execute()
}

async function createLogs(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('logs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
    .addColumn('length', 'bigint', (column) => column.notNull())
    .addColumn('written', 'bigint', (column) => column.notNull())
    .addColumn('ended', 'boolean', (column) => column.notNull())
    .addColumn('blob_key', 'text', (column) => column.references('blobs.key'))
    .execute()
  await db.schema.createIndex('logs_run').on('logs').column('run_id').execute()
  await db.schema
    .createIndex('logs_in_database')
    .on('logs')
    .column('ended')
    .where(sql.ref('blob_key'), 'is', sql.lit(null))
    .execute()
  await db.schema
    .createTable('log_chunks')
    .addColumn('log_id', 'text', (column) => column.notNull().references('logs.id').onDelete('cascade'))
    .addColumn('start', 'bigint', (column) => column.notNull())
    .addColumn('length', 'integer', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('log_chunks_key', ['log_id', 'start'])
    .execute()
}

async function createExecutions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('executions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .$call(ownedByWorkspace)
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
    .addColumn('phase', 'text', (column) => column.notNull())
    .addColumn('agent_pool_id', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('worker_id', 'text')
    .addColumn('lease_ends_at', 'text')
    .addColumn('cancel', 'text')
    .addColumn('queued_at', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('ended_at', 'text')
    .addUniqueConstraint('executions_phase', ['run_id', 'phase'])
    .execute()
  await db.schema
    .createIndex('executions_state')
    .on('executions')
    .columns(['state', 'agent_pool_id', 'queued_at'])
    .execute()
  // One execution of a workspace's own at a time is the lock's doing; this counts those of an organization.
  await db.schema
    .createIndex('executions_running')
    .on('executions')
    .columns(['organization_id', 'workspace_id'])
    .where(sql.ref('state'), '=', sql.lit('running'))
    .execute()
}

function phase<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run_id', 'text', (column) =>
      column.notNull().unique().references('runs.id').onDelete('cascade'),
    )
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('status_timestamps', 'text', (column) => column.notNull())
    .addColumn('execution_details', 'text', (column) => column.notNull())
    .addColumn('resource_additions', 'integer')
    .addColumn('resource_changes', 'integer')
    .addColumn('resource_destructions', 'integer')
    .addColumn('resource_imports', 'integer')
    .addColumn('error', 'text')
}

function ownedByWorkspace<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table.addColumn('workspace_id', 'text', (column) =>
    column.notNull().references('workspaces.id').onDelete('cascade'),
  )
}
