import { type Kysely, sql } from 'kysely'

/** Users, organizations, teams, memberships, tokens, and the record of who changed what. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('is_site_admin', 'boolean', (column) => column.notNull())
    .addColumn('is_service_account', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('users_username')
    .unique()
    .on('users')
    .expression(sql`lower(username)`)
    .execute()
  await db.schema.createIndex('users_email').unique().on('users').expression(sql`lower(email)`).execute()

  await db.schema
    .createTable('organizations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('collaborator_auth_policy', 'text', (column) => column.notNull())
    .addColumn('session_timeout', 'integer')
    .addColumn('session_remember', 'integer')
    .addColumn('cost_estimation_enabled', 'boolean', (column) => column.notNull())
    .addColumn('assessments_enforced', 'boolean', (column) => column.notNull())
    .addColumn('allow_force_delete_workspaces', 'boolean', (column) => column.notNull())
    .addColumn('speculative_plan_management_enabled', 'boolean', (column) => column.notNull())
    .addColumn('aggregated_commit_status_enabled', 'boolean', (column) => column.notNull())
    .addColumn('send_passing_statuses', 'boolean', (column) => column.notNull())
    .addColumn('default_execution_mode', 'text', (column) => column.notNull())
    .addColumn('default_project_id', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('organizations_name')
    .unique()
    .on('organizations')
    .expression(sql`lower(name)`)
    .execute()

  await db.schema
    .createTable('organization_memberships')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('invited_email', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addCheckConstraint(
      'organization_memberships_user_or_invitation',
      sql`(user_id is null) <> (invited_email is null)`,
    )
    .execute()
  await db.schema
    .createIndex('organization_memberships_invitation')
    .unique()
    .on('organization_memberships')
    .expression(sql`organization_id, lower(invited_email)`)
    .execute()
  await db.schema
    .createIndex('organization_memberships_user')
    .unique()
    .on('organization_memberships')
    .columns(['user_id', 'organization_id'])
    .execute()

  await db.schema
    .createTable('teams')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('sso_team_id', 'text')
    .addColumn('visibility', 'text', (column) => column.notNull())
    .addColumn('is_owners', 'boolean', (column) => column.notNull())
    .addColumn('allow_member_token_management', 'boolean', (column) => column.notNull())
    .addColumn('organization_access', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('teams_name')
    .unique()
    .on('teams')
    .expression(sql`organization_id, lower(name)`)
    .execute()

  // A team has organization memberships rather than users, so that an invited person can be put into teams.
  await db.schema
    .createTable('team_memberships')
    .addColumn('team_id', 'text', (column) => column.notNull().references('teams.id').onDelete('cascade'))
    .addColumn('membership_id', 'text', (column) =>
      column.notNull().references('organization_memberships.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('team_memberships_key', ['team_id', 'membership_id'])
    .execute()
  await db.schema
    .createIndex('team_memberships_membership')
    .on('team_memberships')
    .column('membership_id')
    .execute()

  await db.schema
    .createTable('tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
    .addColumn('team_id', 'text', (column) => column.references('teams.id').onDelete('cascade'))
    .addColumn('organization_id', 'text', (column) =>
      column.references('organizations.id').onDelete('cascade'),
    )
    .addColumn('created_by_id', 'text', (column) => column.references('users.id').onDelete('set null'))
    .addColumn('description', 'text')
    .addColumn('is_bootstrap', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'text')
    .addColumn('expired_at', 'text')
    .addCheckConstraint(
      'tokens_one_owner',
      sql`case when user_id is null then 0 else 1 end + case when team_id is null then 0 else 1 end
        + case when organization_id is null then 0 else 1 end = 1`,
    )
    .execute()
  await db.schema.createIndex('tokens_user').on('tokens').column('user_id').execute()
  await db.schema
    .createIndex('tokens_team')
    .unique()
    .on('tokens')
    .expression(sql`team_id, coalesce(description, '')`)
    .execute()
  await db.schema.createIndex('tokens_organization').unique().on('tokens').column('organization_id').execute()

  await db.schema
    .createTable('audit_events')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('resource_type', 'text', (column) => column.notNull())
    .addColumn('resource_id', 'text', (column) => column.notNull())
    .addColumn('meta', 'text', (column) => column.notNull())
    .addColumn('accessor_type', 'text', (column) => column.notNull())
    .addColumn('accessor_id', 'text')
    .addColumn('request_id', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('audit_events_organization')
    .on('audit_events')
    .columns(['organization_id', 'created_at', 'id'])
    .execute()
}
