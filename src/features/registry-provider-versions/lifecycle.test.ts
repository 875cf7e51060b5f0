import { expect, test } from 'vitest'
import {
  expectStatus,
  MEDIA_TYPE,
  onEachDialect,
  pointers,
  type TestOrganization,
  violations,
} from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import {
  auditedOfVersions,
  createPlatform,
  createVersion,
  platformBody,
  publish,
  put,
  sha256,
  versionBody,
} from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'

const PROTOCOL = '/api/registry/v1/providers'
const DEPRECATED = {
  'deprecated-status': 'Deprecated',
  reason: 'It leaks connections; use 1.0.1.',
  link: 'https://example.com/advisories/7',
}
const REVOKED = { status: 'Revoked', message: 'The key was stolen.', link: null }

onEachDialect('the lifecycle of a provider version', (server) => {
  const released = async (platforms = ['linux_amd64']) => {
    const organization = await server.organization()
    const { owner, name } = organization
    const release = await publish(organization, 'demo', '1.0.0', { platforms })
    const member = `${release.path}/versions/1.0.0`
    return {
      organization,
      owner,
      ...release,
      member,
      show: async () => (await owner.get(member)).body.data.attributes,
      change: (attributes: object) => owner.patch(member, versionBody(attributes)),
      offered: async () => (await owner.get(`${PROTOCOL}/${name}/demo/versions`)).body,
      offer: () => owner.get(`${PROTOCOL}/${name}/demo/1.0.0/download/linux/amd64`),
    }
  }

  /** What the transparency log says of versions. */
  const logged = ({ name }: TestOrganization) =>
    asSecondServer(server, async ({ db }) => {
      const rows = await db
        .selectFrom('registryLogRecords as record')
        .innerJoin('organizations', 'organizations.id', 'record.organizationId')
        .select('record.content')
        .where('organizations.name', '=', name)
        .where('record.kind', '=', 'provider-version')
        .orderBy('record.sequence')
        .execute()
      return rows.map(({ content }) => JSON.parse(content))
    })

  test('deprecated: it stays, and consumers are told why until that is taken back', async () => {
    const { organization, show, change, offered, offer } = await released()
    const before = await show()
    const { body } = expectStatus(await change({ deprecation: DEPRECATED }), 200)
    const deprecation = { ...DEPRECATED, 'deprecated-at': expect.stringMatching(/Z$/) }
    const warning = 'deprecated: It leaks connections; use 1.0.1 (https://example.com/advisories/7)'
    expect(body.data.attributes).toEqual({
      ...before,
      status: 'deprecated',
      deprecation,
      revocation: null,
      warnings: [warning],
      'updated-at': expect.stringMatching(/Z$/),
    })
    expect(await show()).toEqual(body.data.attributes)
    expect(await offered()).toMatchObject({
      versions: [{ version: '1.0.0' }],
      warnings: [`1.0.0: ${warning}.`],
    })
    expect((await offer()).status).toBe(200)
    expectStatus(await change({ deprecation: DEPRECATED }), 200)
    expectStatus(await change({ deprecation: { 'deprecated-status': 'Deprecated' } }), 200)
    expect((await offered()).warnings).toEqual(['1.0.0: deprecated.'])
    const undone = await change({ deprecation: { 'deprecated-status': 'Undeprecated' } })
    expect(undone.body.data.attributes).toEqual({ ...before, 'updated-at': expect.stringMatching(/Z$/) })
    expect((await offered()).warnings).toBeNull()
    expectStatus(await change({ deprecation: { 'deprecated-status': 'Undeprecated' } }), 200)
    const events = ['create', 'publish', 'deprecate', 'deprecate', 'undeprecate']
    expect(await auditedOfVersions(server, organization)).toEqual(events)
  })

  test('revoked: nobody gets anything of it any more, and nothing can be added', async () => {
    const { organization, owner, member, change, offered, offer } = await released()
    const late = { os: 'linux', arch: 'arm64', filename: 'late.zip', shasum: sha256('late') }
    const { download_url, shasums_url, shasums_signature_url } = (await offer()).body
    const files = [download_url, shasums_url, shasums_signature_url]
    const statuses = () => Promise.all(files.map(async (url) => (await fetch(url)).status))
    expect(await statuses()).toEqual([200, 200, 200])
    const { body } = expectStatus(await change({ revocation: REVOKED }), 200)
    expect(body.data.attributes).toMatchObject({
      status: 'revoked',
      deprecation: null,
      revocation: { ...REVOKED, 'revoked-at': expect.stringMatching(/Z$/) },
      warnings: ['revoked: The key was stolen'],
    })
    expect(await offered()).toEqual({ versions: [], warnings: null })
    expect((await offer()).status).toBe(404)
    expect(await statuses()).toEqual([404, 404, 404])
    const refused = await owner.post(`${member}/platforms`, platformBody(late))
    expect(refused.status).toBe(409)
    expect(violations(refused)[0]?.detail).toMatch(/is revoked: .* Restore it first/)
    expect((await change({ deprecation: DEPRECATED })).status).toBe(409)

    const restored = await change({ revocation: { status: 'Unrevoked' } })
    expect(restored.body.data.attributes).toMatchObject({
      status: 'deprecated',
      deprecation: { reason: 'The key was stolen.', link: null },
      revocation: null,
    })
    expect(await statuses()).toEqual([200, 200, 200])
    expectStatus(await change({ deprecation: DEPRECATED, revocation: REVOKED }), 200)
    const again = await change({
      deprecation: { 'deprecated-status': 'Undeprecated' },
      revocation: { status: 'Unrevoked' },
    })
    expect(again.body.data.attributes).toMatchObject({ status: 'published', deprecation: null })
    const there = ['create', 'publish', 'revoke', 'restore', 'deprecate', 'revoke', 'restore', 'undeprecate']
    expect(await auditedOfVersions(server, organization)).toEqual(there)

    expectStatus(await change({ status: 'published' }), 200)
    expectStatus(await change({ status: 'revoked' }), 200)
    expectStatus(await change({ status: 'revoked' }), 200)
    expect(await auditedOfVersions(server, organization)).toEqual([...there, 'revoke'])
  })

  test('that was revoked does not come back by being deleted', async () => {
    const { owner, path, key, archives, member, change } = await released()
    expectStatus(await change({ status: 'revoked' }), 200)
    expectStatus(await owner.delete(`${member}/platforms/linux/amd64`), 204)
    expectStatus(await owner.delete(member), 204)
    await createVersion(owner, path, '1.0.0', key)
    const filename = 'terraform-provider-demo_1.0.0_linux_amd64.zip'
    const shasum = sha256(archives.get('linux_amd64') as Buffer)
    for (const arch of ['amd64', 'riscv64']) {
      const platform = platformBody({ os: 'linux', arch, filename, shasum })
      expect(violations(await owner.post(`${member}/platforms`, platform))).toEqual([
        {
          pointer: '/data/attributes/shasum',
          detail: expect.stringContaining('was revoked and then deleted'),
        },
      ])
    }
  })

  test('refuses an archive for a version that was revoked meanwhile, until it is restored', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const release = await publish(organization, 'demo', '1.0.0', {
      platforms: ['linux_amd64', 'linux_arm64'],
    })
    const member = `${release.path}/versions/1.0.0`
    const archive = release.archives.get('linux_arm64') as Buffer
    expectStatus(await owner.delete(`${member}/platforms/linux/arm64`), 204)
    const filename = 'terraform-provider-demo_1.0.0_linux_arm64.zip'
    const target = { os: 'linux', arch: 'arm64', filename, shasum: sha256(archive) }
    const { links } = await createPlatform(owner, release.path, '1.0.0', target)
    expectStatus(await owner.patch(member, versionBody({ status: 'revoked' })), 200)
    expect((await put(links['provider-binary-upload'], archive)).status).toBe(409)
    expectStatus(await owner.delete(`${member}/platforms/linux/amd64`), 204)
    expectStatus(await owner.patch(member, versionBody({ revocation: { status: 'Unrevoked' } })), 200)
    expect((await put(links['provider-binary-upload'], archive)).status).toBe(200)
    const back = { os: 'linux', arch: 'amd64', filename: filename.replace('arm64', 'amd64') }
    const shasum = sha256(release.archives.get('linux_amd64') as Buffer)
    await createPlatform(owner, release.path, '1.0.0', { ...back, shasum })
    const log = await logged(organization)
    expect(log.map(({ action }) => action)).toEqual([
      'publish',
      'publish',
      'delete',
      'revoke',
      'delete',
      'restore',
      'publish',
    ])
  })

  test('is on record with its digests', async () => {
    const { organization, owner, key, shasums, archives, member, change } = await released()
    expectStatus(await change({ deprecation: DEPRECATED }), 200)
    expectStatus(await owner.delete(member), 204)
    const draft = await createVersion(owner, member.replace('/versions/1.0.0', ''), '1.0.1', key)
    expectStatus(await owner.delete(member.replace('1.0.0', draft.attributes.version)), 204)
    const subject = {
      kind: 'provider-version',
      namespace: organization.name,
      name: 'demo',
      version: '1.0.0',
      fingerprint: expect.stringMatching(new RegExp(`^[0-9A-F]{24}${key.keyId}$`)),
      digests: {
        SHA256SUMS: sha256(shasums),
        'terraform-provider-demo_1.0.0_linux_amd64.zip': sha256(archives.get('linux_amd64') as Buffer),
      },
    }
    const details = { reason: DEPRECATED.reason, link: DEPRECATED.link }
    expect(await logged(organization)).toMatchObject([
      { action: 'publish', subject },
      { action: 'deprecate', subject: { ...subject, details } },
      { action: 'delete', subject },
    ])
  })

  test('is refused with every violation, in order', async () => {
    const { owner, member, change } = await released()
    const words = { reason: 'two\nlines', link: 'javascript:alert(1)' }
    expect(
      pointers(await change({ deprecation: words, revocation: { status: 'gone', message: ' ' } })),
    ).toEqual([
      '/data/attributes/deprecation/deprecated-status',
      '/data/attributes/deprecation/link',
      '/data/attributes/deprecation/reason',
      '/data/attributes/revocation/message',
      '/data/attributes/revocation/status',
    ])
    for (const reason of ['\u001b[2Jgone', 'left \u202eright', 'x'.repeat(1001)]) {
      const answer = await change({ deprecation: { ...DEPRECATED, reason } })
      expect(pointers(answer)).toEqual(['/data/attributes/deprecation/reason'])
    }
    expect(pointers(await change({ status: 'draft' }))).toEqual(['/data/attributes/status'])
    expect((await owner.patch(member, versionBody({}, 'versions'))).status).toBe(422)
    expect((await owner.patch(member, '{')).status).toBe(400)
    expect((await owner.send('PATCH', member, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await owner.send('PATCH', `${member}1`, '{', { 'content-type': 'text/plain' })).status).toBe(404)
    expect(
      (await server.nobody.send('PATCH', `${member}1`, '{', { 'content-type': MEDIA_TYPE })).status,
    ).toBe(401)
    expect((await owner.patch(member.replace('/private/', '/public/'), '{')).status).toBe(403)
  })

  test('belongs to publishers; to take a revocation back is for those who manage the provider', async () => {
    const { organization, owner, path, member, show } = await released()
    const deprecate = versionBody({ deprecation: DEPRECATED })
    for (const nosy of [await server.user(), await server.member(organization)]) {
      expect((await nosy.patch(member, deprecate)).status).toBe(404)
    }
    const { id } = (await owner.get(path)).body.data
    const limit = { 'registry-providers': { data: [{ id, type: 'registry-providers' }] } }
    const made = await owner.post(
      `/api/v2/users/${owner.id}/authentication-tokens`,
      document('authentication-tokens', { description: 'release' }, limit),
    )
    const pipeline = server.as(expectStatus(made, 201).body.data.attributes.token)
    expect((await pipeline.patch(member, deprecate)).status).toBe(200)
    expect((await pipeline.patch(member, versionBody({ status: 'revoked' }))).status).toBe(200)
    const restore = versionBody({ revocation: { status: 'Unrevoked' } })
    expect((await pipeline.patch(member, restore)).status).toBe(404)
    expect((await show()).status).toBe('revoked')
    const manager = await server.member(organization, ['manage-providers'])
    expect((await manager.patch(member, restore)).status).toBe(200)
  })

  test('race: of many who revoke it, one does', async () => {
    const { organization, change } = await released()
    const answers = await Promise.all(Array.from({ length: 6 }, () => change({ revocation: REVOKED })))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(await auditedOfVersions(server, organization)).toEqual(['create', 'publish', 'revoke'])
  })
})
