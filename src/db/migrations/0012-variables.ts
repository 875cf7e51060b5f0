import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/** Variables of workspaces, and sets of them that several share. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('varsets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('parent_project_id', 'text', (column) => column.references('projects.id').onDelete('cascade'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('global', 'boolean', (column) => column.notNull())
    .addColumn('priority', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('varsets_name')
    .unique()
    .on('varsets')
    .expression(sql`organization_id, coalesce(parent_project_id, ''), lower(name)`)
    .execute()
  await db.schema.createIndex('varsets_parent_project').on('varsets').column('parent_project_id').execute()
  await db.schema
    .createTable('varset_workspaces')
    .addColumn('varset_id', 'text', (column) => column.notNull().references('varsets.id').onDelete('cascade'))
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('varset_workspaces_key', ['varset_id', 'workspace_id'])
    .execute()
  await db.schema
    .createIndex('varset_workspaces_workspace')
    .on('varset_workspaces')
    .column('workspace_id')
    .execute()
  await db.schema
    .createTable('varset_projects')
    .addColumn('varset_id', 'text', (column) => column.notNull().references('varsets.id').onDelete('cascade'))
    .addColumn('project_id', 'text', (column) =>
      column.notNull().references('projects.id').onDelete('cascade'),
    )
    .addPrimaryKeyConstraint('varset_projects_key', ['varset_id', 'project_id'])
    .execute()
  await db.schema.createIndex('varset_projects_project').on('varset_projects').column('project_id').execute()

  await db.schema
    .createTable('vars')
    .$call(variable)
    .addColumn('workspace_id', 'text', (column) =>
      column.notNull().references('workspaces.id').onDelete('cascade'),
    )
    .addUniqueConstraint('vars_key', ['workspace_id', 'category', 'key'])
    .execute()
  await db.schema
    .createTable('varset_vars')
    .$call(variable)
    .addColumn('varset_id', 'text', (column) => column.notNull().references('varsets.id').onDelete('cascade'))
    // The organization, while the set applies to all of it: there each name stands for one variable only.
    .addColumn('global_in', 'text')
    .addUniqueConstraint('varset_vars_key', ['varset_id', 'category', 'key'])
    .addUniqueConstraint('varset_vars_global_key', ['global_in', 'category', 'key'])
    .execute()
}

function variable<T extends string, C extends string>(table: CreateTableBuilder<T, C>) {
  return table
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('category', 'text', (column) => column.notNull())
    .addColumn('hcl', 'boolean', (column) => column.notNull())
    .addColumn('sensitive', 'boolean', (column) => column.notNull())
    .addColumn('version_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
}
