import { type Kysely, sql } from 'kysely'

/** The lifecycle of provider versions, and who downloads them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addLifecycle(db)
  await publishComplete(db)
  await db.schema
    .alterTable('registry_provider_tombstones')
    .addColumn('revoked', 'boolean', (column) => column.notNull().defaultTo(sql`false`))
    .execute()
  await db.schema
    .createTable('registry_provider_downloads')
    .addColumn('platform_id', 'text', (column) =>
      column.notNull().references('registry_provider_platforms.id').onDelete('cascade'),
    )
    .addColumn('subject_kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', 'text', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addColumn('last_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('registry_provider_downloads_key', ['platform_id', 'subject_kind', 'subject_id'])
    .execute()
  // Whose state uses a provider is asked when one of its versions is given up.
  await db.schema
    .createIndex('workspace_resources_provider')
    .on('workspace_resources')
    .columns(['provider', 'workspace_id'])
    .execute()
}

async function addLifecycle(db: Kysely<unknown>): Promise<void> {
  const versions = () => db.schema.alterTable('registry_provider_versions')
  await versions()
    .addColumn('status', 'text', (column) => column.notNull().defaultTo('draft'))
    .execute()
  for (const column of [
    'published_at',
    'deprecated_at',
    'deprecation_reason',
    'deprecation_link',
    'revoked_at',
    'revocation_message',
    'revocation_link',
  ]) {
    await versions().addColumn(column, 'text').execute()
  }
}

/** What can be installed already is published, since the last of the files came that it needed. */
async function publishComplete(db: Kysely<unknown>): Promise<void> {
  const archives = sql`registry_provider_platforms where version_id = registry_provider_versions.id
    and binary_blob is not null`
  await sql`update registry_provider_versions set status = 'published', published_at = (
      select case when min(updated_at) > registry_provider_versions.updated_at
        then min(updated_at) else registry_provider_versions.updated_at end from ${archives})
    where shasums_blob is not null and signature_blob is not null and exists (select 1 from ${archives})`.execute(
    db,
  )
}
