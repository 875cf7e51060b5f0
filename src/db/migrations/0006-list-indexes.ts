import type { Kysely } from 'kysely'

/** One for each list that can be long, in its order: a page then costs the same however long the list is. */
const LISTS: Record<string, string[]> = {
  projects: ['organization_id', 'name', 'id'],
  registry_provider_versions: ['provider_id', 'created_at', 'id'],
  registry_providers: ['organization_id', 'name', 'id'],
  reserved_tag_keys: ['organization_id', 'created_at', 'id'],
  tokens: ['user_id', 'created_at', 'id'],
  users: ['created_at', 'id'],
  workspaces: ['organization_id', 'name', 'id'],
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of Object.entries(LISTS)) {
    await db.schema.createIndex(`${table}_in_order`).on(table).columns(columns).execute()
  }
}
