import type { Kysely } from 'kysely'

/** What stands around runs: comments, events, triggers, SSH keys, and the versions of the engine. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('comments')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_by_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('created_by_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('comments_run').on('comments').columns(['run_id', 'created_at']).execute()
  await db.schema
    .createTable('run_events')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('actor_user_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('actor_team_id', 'text', (column) => column.references('teams.id').onDelete('set null'))
    .addColumn('comment_id', 'text', (column) => column.references('comments.id').onDelete('set null'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('run_events_run').on('run_events').columns(['run_id', 'position']).execute()
  await db.schema.createIndex('run_events_comment').on('run_events').column('comment_id').execute()
  await db.schema
    .createTable('run_triggers')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('sourceable_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('run_triggers_pair', ['workspace_id', 'sourceable_id'])
    .execute()
  await db.schema.createIndex('run_triggers_source').on('run_triggers').column('sourceable_id').execute()
  await db.schema
    .createTable('ssh_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('ssh_keys_name', ['organization_id', 'name'])
    .execute()
  await db.schema
    .alterTable('workspaces')
    .addColumn('ssh_key_id', 'text', (column) => column.references('ssh_keys.id').onDelete('set null'))
    .execute()
  await db.schema
    .createTable('terraform_versions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version', 'text', (column) => column.notNull().unique())
    .addColumn('rank', 'text', (column) => column.notNull())
    .addColumn('archs', 'text', (column) => column.notNull())
    .addColumn('official', 'boolean', (column) => column.notNull())
    .addColumn('enabled', 'boolean', (column) => column.notNull())
    .addColumn('beta', 'boolean', (column) => column.notNull())
    .addColumn('deprecated', 'boolean', (column) => column.notNull())
    .addColumn('deprecated_reason', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
}
