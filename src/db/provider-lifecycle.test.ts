import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { connect } from './connect.ts'

const COLUMNS = [
  'status',
  'published_at',
  'deprecated_at',
  'deprecation_reason',
  'deprecation_link',
  'revoked_at',
  'revocation_message',
  'revocation_link',
]

/** What the migration finds: a database as it was before. */
async function goBack(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('registry_provider_downloads').execute()
  await db.schema.dropIndex('workspace_resources_provider').execute()
  await db.schema.alterTable('registry_provider_tombstones').dropColumn('revoked').execute()
  for (const column of COLUMNS)
    await db.schema.alterTable('registry_provider_versions').dropColumn(column).execute()
  await sql`delete from migrations where name = '0016-provider-lifecycle'`.execute(db)
}

onEachDatabase('provider versions from before', (database) => {
  test('are published if they could be installed, since the last file came that they needed', async () => {
    const [early, late] = ['2024-01-02T03:04:05.678Z', '2024-02-02T03:04:05.678Z']
    const db = database.connection.writes as unknown as Kysely<unknown>
    await goBack(db)
    await sql`insert into organizations (id, name, email, collaborator_auth_policy, cost_estimation_enabled,
      assessments_enforced, allow_force_delete_workspaces, speculative_plan_management_enabled,
      aggregated_commit_status_enabled, send_passing_statuses, default_execution_mode, created_at, updated_at)
      values ('org-1', 'acme', 'a@example.com', 'password', false, false, false, false, false, false, 'remote',
      ${early}, ${early})`.execute(db)
    await sql`insert into registry_providers (id, organization_id, registry_name, name, created_at, updated_at)
      values ('prov-1', 'org-1', 'private', 'demo', ${early}, ${early})`.execute(db)
    await sql`insert into blobs (key, size, sha256, created_at) values ('file', 1, '', ${early})`.execute(db)
    const version = (id: string, signature: string | null, updatedAt: string) =>
      sql`insert into registry_provider_versions (id, provider_id, version, protocols, key_id, ascii_armor,
        shasums_blob, signature_blob, created_at, updated_at) values (${id}, 'prov-1', ${id}, '[]', '', '', 'file',
        ${signature}, ${early}, ${updatedAt})`.execute(db)
    const platform = (versionId: string, arch: string, binary: string | null, updatedAt: string) =>
      sql`insert into registry_provider_platforms (id, version_id, os, arch, filename, shasum, binary_blob,
        created_at, updated_at) values (${versionId + arch}, ${versionId}, 'linux', ${arch}, ${arch}, '', ${binary},
        ${early}, ${updatedAt})`.execute(db)
    await version('filled-last', 'file', early)
    await platform('filled-last', 'amd64', 'file', late)
    await version('signed-last', 'file', late)
    await platform('signed-last', 'amd64', 'file', early)
    await platform('signed-last', 'arm64', null, late)
    await version('unfilled', 'file', early)
    await platform('unfilled', 'amd64', null, early)
    await version('unsigned', null, early)
    await platform('unsigned', 'amd64', 'file', early)
    const again = await connect(database.location, () => {})
    const rows = await again.reads
      .selectFrom('registryProviderVersions')
      .select(['id', 'status', 'publishedAt'])
      .orderBy('id')
      .execute()
    expect(rows).toEqual([
      { id: 'filled-last', status: 'published', publishedAt: late },
      { id: 'signed-last', status: 'published', publishedAt: late },
      { id: 'unfilled', status: 'draft', publishedAt: null },
      { id: 'unsigned', status: 'draft', publishedAt: null },
    ])
    await again.close()
  })
})
