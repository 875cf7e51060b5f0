import { expect, test } from 'vitest'
import {
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  violations,
} from '../../../test/harness.ts'
import {
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  type PublishedRelease,
  platformBody,
  publish,
  put,
  sha256,
} from '../../../test/registry.ts'

const FILENAME = 'terraform-provider-demo_1.0.0_linux_amd64.zip'

onEachDialect('a released version', (server) => {
  const released = async () => {
    const organization = await server.organization()
    const release = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    return { organization, owner: organization.owner, ...release }
  }

  /** Makes the version again, and its platform with `archive`. */
  const recreate = async ({ owner }: TestOrganization, { path, key }: PublishedRelease, archive: Buffer) => {
    await createVersion(owner, path, '1.0.0', key)
    const attributes = { os: 'linux', arch: 'amd64', filename: FILENAME, shasum: sha256(archive) }
    return owner.post(`${path}/versions/1.0.0/platforms`, platformBody(attributes))
  }

  test('takes no other platform than its signed SHA256SUMS lists', async () => {
    const { owner, path } = await released()
    const late = { os: 'darwin', arch: 'arm64', filename: 'late.zip', shasum: sha256('late') }
    const answer = await owner.post(`${path}/versions/1.0.0/platforms`, platformBody(late))
    expect(pointers(answer)).toEqual(['/data/attributes/filename'])
  })

  test('that was deleted comes back with the same contents only', async () => {
    const { organization, owner, ...release } = await released()
    const { path } = release
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    const refused = await recreate(organization, release, await makeArchive('demo', '1.0.0', 'other'))
    expect(refused.status).toBe(422)
    expect(violations(refused)).toEqual([
      {
        pointer: '/data/attributes/shasum',
        detail: expect.stringContaining('was released for linux_amd64 before'),
      },
    ])
    const archive = release.archives.get('linux_amd64') as Buffer
    const same = { os: 'linux', arch: 'amd64', filename: FILENAME, shasum: sha256(archive) }
    const platform = await createPlatform(owner, path, '1.0.0', same)
    expect((await put(platform.links['provider-binary-upload'], archive)).status).toBe(200)
  })

  test('stays on record when a platform, or the whole provider, is deleted', async () => {
    const { organization, owner, ...release } = await released()
    const { path } = release
    const other = await makeArchive('demo', '1.0.0', 'other')
    expectStatus(await owner.delete(`${path}/versions/1.0.0/platforms/linux/amd64`), 204)
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    expect((await recreate(organization, release, other)).status).toBe(422)
    expectStatus(await owner.delete(path), 204)
    await createProvider(organization, 'DEMO')
    expect((await recreate(organization, release, other)).status).toBe(422)
  })

  test('may change after all where its organization says so, which is put on record', async () => {
    const { organization, owner, ...release } = await released()
    const allow = { data: { type: 'organizations', attributes: { 'provider-version-reuse-enabled': true } } }
    expectStatus(await owner.patch(organization.path, allow), 200)
    expectStatus(await owner.delete(`${release.path}/versions/1.0.0`), 204)
    const other = await makeArchive('demo', '1.0.0', 'other')
    expect((await recreate(organization, release, other)).status).toBe(201)
    const token = await server.organizationToken(organization)
    const { body } = await token.get('/api/v2/organization/audit-trail')
    expect(body.data.map((event: { resource: object }) => event.resource)).toContainEqual(
      expect.objectContaining({ action: 'reuse', id: 'demo 1.0.0 linux_amd64' }),
    )
  })

  test('was never one, when it was not complete: a draft can be made again with other contents', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const release = await publish(organization, 'other', '1.0.0', { platforms: ['linux_amd64'] })
    const path = await createProvider(organization, 'demo')
    await createVersion(owner, path, '1.0.0', release.key)
    const archive = await makeArchive('demo', '1.0.0')
    const attributes = { os: 'linux', arch: 'amd64', filename: FILENAME, shasum: sha256(archive) }
    const platform = await createPlatform(owner, path, '1.0.0', attributes)
    expectStatus(await put(platform.links['provider-binary-upload'], archive), 200)
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    const other = await makeArchive('demo', '1.0.0', 'other')
    expect((await recreate(organization, { ...release, path }, other)).status).toBe(201)
  })
})
