import type { Kysely } from 'kysely'
import { addTokenOwners } from './0013-token-owners.ts'

/** Who may use a pool that is not for all, and who may not use one. */
const SCOPES = [
  { table: 'agent_pool_workspaces', kind: 'workspace' },
  { table: 'agent_pool_projects', kind: 'project' },
  { table: 'agent_pool_exclusions', kind: 'workspace' },
] as const

/** Agents and their pools, and the tokens of agents and of runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_pools')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('organization_scoped', 'boolean', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addUniqueConstraint('agent_pools_name', ['organization_id', 'name'])
    .execute()
  for (const { table, kind } of SCOPES) {
    await db.schema
      .createTable(table)
      .addColumn('agent_pool_id', 'text', (column) =>
        column.notNull().references('agent_pools.id').onDelete('cascade'),
      )
      .addColumn(`${kind}_id`, 'text', (column) =>
        column.notNull().references(`${kind}s.id`).onDelete('cascade'),
      )
      .addPrimaryKeyConstraint(`${table}_key`, ['agent_pool_id', `${kind}_id`])
      .execute()
    await db.schema.createIndex(`${table}_${kind}`).on(table).column(`${kind}_id`).execute()
  }
  await db.schema
    .createTable('agents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('agent_pool_id', 'text', (column) =>
      column.notNull().references('agent_pools.id').onDelete('cascade'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('ip_address', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('last_ping_at', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('agents_pool').on('agents').columns(['agent_pool_id', 'created_at']).execute()
  await addTokenOwners(db)
  await db.schema
    .alterTable('workspaces')
    .addColumn('agent_pool_id', 'text', (column) => column.references('agent_pools.id'))
    .execute()
  await db.schema.createIndex('workspaces_agent_pool').on('workspaces').column('agent_pool_id').execute()
  await db.schema
    .alterTable('projects')
    .addColumn('default_agent_pool_id', 'text', (column) => column.references('agent_pools.id'))
    .execute()
  await db.schema.createIndex('projects_agent_pool').on('projects').column('default_agent_pool_id').execute()
  await db.schema.alterTable('organizations').addColumn('default_agent_pool_id', 'text').execute()
}
