import { type CreateTableBuilder, type Kysely, sql } from 'kysely'

/**
 * Lets tokens belong to pools of agents and to runs. Which owners there are is a check of the table, which SQLite
 * changes only with the table: it is made anew, and so are those that refer to it, for none of their rows to be lost.
 */
export async function addTokenOwners(db: Kysely<unknown>): Promise<void> {
  for (const [table, describe] of Object.entries(TABLES)) {
    await describe(db.schema.createTable(`${table}_rebuilt`)).execute()
    const columns = sql.join((COLUMNS[table] as string[]).map((name) => sql.ref(name)))
    await sql`insert into ${sql.table(`${table}_rebuilt`)} (${columns})
      select ${columns} from ${sql.table(table)}`.execute(db)
  }
  for (const table of Object.keys(TABLES).toReversed()) await db.schema.dropTable(table).execute()
  for (const table of Object.keys(TABLES)) {
    await db.schema.alterTable(`${table}_rebuilt`).renameTo(table).execute()
  }
  for (const [name, table, column] of INDEXES) {
    await db.schema.createIndex(name).on(table).column(column).execute()
  }
  await db.schema
    .createIndex('tokens_in_order')
    .on('tokens')
    .columns(['user_id', 'created_at', 'id'])
    .execute()
  await db.schema.createIndex('tokens_organization').unique().on('tokens').column('organization_id').execute()
  await db.schema
    .createIndex('tokens_team')
    .unique()
    .on('tokens')
    .expression(sql`team_id, coalesce(description, '')`)
    .execute()
}

const INDEXES = [
  ['tokens_user', 'tokens', 'user_id'],
  ['tokens_agent_pool', 'tokens', 'agent_pool_id'],
  ['tokens_run', 'tokens', 'run_id'],
  ['sessions_user', 'sessions', 'user_id'],
  ['sessions_token', 'sessions', 'token_id'],
  ['authorization_codes_user', 'authorization_codes', 'user_id'],
  ['authorization_codes_token', 'authorization_codes', 'token_id'],
] as const

/** What each of them has had so far. */
const COLUMNS: Record<string, string[]> = {
  tokens: [
    ...['id', 'hash', 'user_id', 'team_id', 'organization_id', 'created_by_id', 'description'],
    ...['is_bootstrap', 'created_at', 'last_used_at', 'expired_at'],
  ],
  sessions: ['id', 'hash', 'user_id', 'token_id', 'created_at', 'idle_at', 'expires_at'],
  authorization_codes: [
    ...['hash', 'client_id', 'redirect_uri', 'code_challenge', 'user_id', 'token_id'],
    ...['created_at', 'expires_at', 'redeemed_at'],
  ],
}

type Builder = CreateTableBuilder<string, never>

/** A table that others refer to comes before them. */
const TABLES: Record<string, (table: Builder) => CreateTableBuilder<string, string>> = {
  tokens: (table) =>
    table
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.references('users.id').onDelete('cascade'))
      .addColumn('team_id', 'text', (column) => column.references('teams.id').onDelete('cascade'))
      .addColumn('organization_id', 'text', (column) =>
        column.references('organizations.id').onDelete('cascade'),
      )
      .addColumn('agent_pool_id', 'text', (column) => column.references('agent_pools.id').onDelete('cascade'))
      .addColumn('run_id', 'text', (column) => column.references('runs.id').onDelete('cascade'))
      .addColumn('created_by_id', 'text', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('description', 'text')
      .addColumn('is_bootstrap', 'boolean', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('last_used_at', 'text')
      .addColumn('expired_at', 'text')
      .addCheckConstraint(
        'tokens_one_owner',
        sql`case when user_id is null then 0 else 1 end + case when team_id is null then 0 else 1 end
          + case when organization_id is null then 0 else 1 end
          + case when agent_pool_id is null then 0 else 1 end
          + case when run_id is null then 0 else 1 end = 1`,
      ),
  sessions: (table) =>
    table
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('token_id', 'text', (column) => column.references('tokens_rebuilt.id').onDelete('cascade'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('idle_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull()),
  authorization_codes: (table) =>
    table
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('client_id', 'text', (column) => column.notNull())
      .addColumn('redirect_uri', 'text', (column) => column.notNull())
      .addColumn('code_challenge', 'text', (column) => column.notNull())
      .addColumn('user_id', 'text', (column) => column.notNull().references('users.id').onDelete('cascade'))
      .addColumn('token_id', 'text', (column) => column.references('tokens_rebuilt.id').onDelete('set null'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .addColumn('redeemed_at', 'text'),
}
