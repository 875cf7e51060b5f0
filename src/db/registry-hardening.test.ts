import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import { makeKey } from '../../test/registry.ts'
import { connect } from './connect.ts'

/** What the migration finds: a database as it was before, with keys in it. */
async function goBack(db: Kysely<unknown>): Promise<void> {
  await db.schema.dropTable('registry_quotas').execute()
  await db.schema.alterTable('tokens').dropColumn('registry_provider_ids').execute()
  await db.schema.alterTable('gpg_keys').dropColumn('expires_at').execute()
  await db.schema.alterTable('registry_provider_versions').dropColumn('key_expires_at').execute()
  await sql`delete from migrations where name = '0015-registry-hardening'`.execute(db)
}

onEachDatabase('signing keys from before', (database) => {
  test('get to know when they expire', async () => {
    const now = '2024-01-02T03:04:05.678Z'
    const expiring = await makeKey('eddsa', { date: new Date('2020-01-01'), keyExpirationTime: 60 })
    const armors = [expiring.armor, (await makeKey()).armor, 'no key']
    const db = database.connection.writes as unknown as Kysely<unknown>
    await goBack(db)
    await sql`insert into organizations (id, name, email, collaborator_auth_policy, cost_estimation_enabled,
      assessments_enforced, allow_force_delete_workspaces, speculative_plan_management_enabled,
      aggregated_commit_status_enabled, send_passing_statuses, default_execution_mode, created_at, updated_at)
      values ('org-1', 'acme', 'a@example.com', 'password', false, false, false, false, false, false, 'remote',
      ${now}, ${now})`.execute(db)
    await sql`insert into registry_providers (id, organization_id, registry_name, name, created_at, updated_at)
      values ('prov-1', 'org-1', 'private', 'demo', ${now}, ${now})`.execute(db)
    for (const [index, armor] of armors.entries()) {
      await sql`insert into gpg_keys (id, organization_id, key_id, fingerprint, ascii_armor, created_at, updated_at)
        values (${String(index)}, 'org-1', ${String(index)}, '', ${armor}, ${now}, ${now})`.execute(db)
      await sql`insert into registry_provider_versions (id, provider_id, version, protocols, key_id, ascii_armor,
        created_at, updated_at) values (${String(index)}, 'prov-1', ${`1.0.${index}`}, '[]', '', ${armor}, ${now},
        ${now})`.execute(db)
    }
    const again = await connect(database.location, () => {})
    const expiries = { expiresAt: '2020-01-01T00:01:00.000Z' }
    const keys = await again.reads.selectFrom('gpgKeys').select('expiresAt').orderBy('id').execute()
    expect(keys).toEqual([expiries, { expiresAt: null }, { expiresAt: null }])
    const versions = await again.reads
      .selectFrom('registryProviderVersions')
      .select('keyExpiresAt as expiresAt')
      .orderBy('id')
      .execute()
    expect(versions).toEqual(keys)
    await again.close()
  })
})
