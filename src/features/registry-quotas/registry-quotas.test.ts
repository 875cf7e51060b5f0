import { request } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import {
  type Answer,
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  type TestServer,
} from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  publish,
  put,
  sha256,
} from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'

const adminPath = ({ name }: TestOrganization) => `/api/v2/admin/organizations/${name}`

const setQuota = async (server: TestServer, organization: TestOrganization, bytes: number | null) => {
  const body = document('organizations', { 'registry-quota-bytes': bytes })
  return expectStatus(await server.admin.patch(adminPath(organization), body), 200).body.data.attributes
}

const usage = async (server: TestServer, organization: TestOrganization) =>
  expectStatus(await server.admin.get(adminPath(organization)), 200).body.data.attributes[
    'registry-used-bytes'
  ]

/** A version with platforms that wait for archives of the same size, each with its link. */
async function drafts(organization: TestOrganization, count: number, name = 'demo') {
  const path = await createProvider(organization, name)
  const key = await addKey(organization, await makeKey())
  const { links } = await createVersion(organization.owner, path, '1.0.0', key)
  const archives: { url: string; bytes: Buffer }[] = []
  for (let n = 0; n < count; n += 1) {
    const bytes = await makeArchive(name, '1.0.0', `#!/bin/sh\n# ${String(n).padStart(4, '0')}\n`)
    const platform = { os: 'linux', arch: `a${n}`, filename: `a${n}.zip`, shasum: sha256(bytes) }
    const created = await createPlatform(organization.owner, path, '1.0.0', platform)
    archives.push({ url: created.links['provider-binary-upload'], bytes })
  }
  const size = archives[0]?.bytes.length ?? 0
  return { path, key, archives, size, links }
}

/** Sends bytes without saying how many. */
async function putChunked(url: string, bytes: Buffer): Promise<Pick<Answer, 'status' | 'body'>> {
  const body = Readable.toWeb(Readable.from([bytes]))
  const response = await fetch(url, { method: 'PUT', body, duplex: 'half' } as RequestInit)
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : undefined }
}

onEachDialect('quotas of the registry', (server) => {
  test('are shown and set by site administrators, and put on record', async () => {
    const organization = await server.organization()
    const { archives, shasums, signature } = await publish(organization, 'demo', '1.0.0')
    const used = [...archives.values(), shasums, signature].reduce((sum, { length }) => sum + length, 0)
    const shown = await server.admin.get(adminPath(organization))
    const { body: ownBody } = await organization.owner.get(organization.path)
    expect(shown.body.data).toEqual({
      id: organization.name,
      type: 'organizations',
      attributes: {
        name: organization.name,
        'external-id': ownBody.data.attributes['external-id'],
        'notification-email': 'owner@example.com',
        'registry-quota-bytes': null,
        'registry-allowed-bytes': 0,
        'registry-used-bytes': used,
      },
      links: { self: adminPath(organization) },
    })
    const changed = { 'registry-quota-bytes': 5 * 2 ** 40, 'registry-allowed-bytes': 5 * 2 ** 40 }
    expect(await setQuota(server, organization, 5 * 2 ** 40)).toMatchObject(changed)
    const untouched = await server.admin.patch(adminPath(organization), document('organizations', {}))
    expect(untouched.body.data.attributes).toMatchObject(changed)
    expect(await setQuota(server, organization, null)).toMatchObject({
      'registry-quota-bytes': null,
      'registry-allowed-bytes': 0,
    })
    const trail = await (await server.organizationToken(organization)).get('/api/v2/organization/audit-trail')
    expect(trail.text).toContain('"registry-quota-bytes":"5497558138880"')
  })

  test('are refused with the pointer, and exist for nobody but site administrators', async () => {
    const organization = await server.organization()
    for (const bytes of [-1, 1.5, '10', 2 ** 60]) {
      const body = document('organizations', { 'registry-quota-bytes': bytes })
      const answer = await server.admin.patch(adminPath(organization), body)
      expect([bytes, answer.status, pointers(answer)]).toEqual([
        bytes,
        422,
        ['/data/attributes/registry-quota-bytes'],
      ])
    }
    const { owner } = organization
    for (const client of [owner, await server.user(), await server.organizationToken(organization)]) {
      expect((await client.get(adminPath(organization))).status).toBe(404)
      expect((await client.patch(adminPath(organization), {})).status).toBe(404)
    }
    expect((await server.nobody.get(adminPath(organization))).status).toBe(401)
    expect((await server.admin.patch('/api/v2/admin/organizations/nowhere', {})).status).toBe(404)
    // The owner's way to settings does not lead there.
    const own = document('organizations', { 'registry-quota-bytes': 1 })
    expectStatus(await owner.patch(organization.path, own), 200)
    expect((await server.admin.get(adminPath(organization))).body.data.attributes).toMatchObject({
      'registry-quota-bytes': null,
    })
  })

  test('refuse an upload that has no room, announced or not, and say what to do', async () => {
    const organization = await server.organization()
    const { archives, size } = await drafts(organization, 2)
    const [first, second] = archives as [(typeof archives)[0], (typeof archives)[0]]
    await setQuota(server, organization, 2 * size - 1)
    expect((await put(first.url, first.bytes)).status).toBe(200)
    const refused = [await put(second.url, second.bytes), await putChunked(second.url, second.bytes)]
    for (const { status, body } of refused) {
      expect(status).toBe(413)
      expect(body.errors).toEqual([
        {
          status: '413',
          title: 'content too large',
          detail:
            `The file of ${size} bytes is too large for the registry quota of organization ${organization.name}: it ` +
            `uses ${size} of ${2 * size - 1} bytes. Delete versions or platforms that nobody needs, or ask a site ` +
            'administrator for more.',
        },
      ])
    }
    expect(await usage(server, organization)).toBe(size)
    // What is there already needs no room.
    expect((await put(first.url, first.bytes)).status).toBe(200)
    await setQuota(server, organization, 2 * size)
    expect((await put(second.url, second.bytes)).status).toBe(200)
  })

  test('refuse an announced upload before it is read', async () => {
    const organization = await server.organization()
    const { archives, links } = await drafts(organization, 1)
    await setQuota(server, organization, 1)
    for (const url of [archives[0]?.url, links['shasums-upload'], links['shasums-sig-upload']]) {
      const answer = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-length': 2, expect: '100-continue' }
        const outgoing = request(url, { method: 'PUT', headers }, (incoming) => resolve(incoming.statusCode))
        outgoing.on('continue', () => reject(new Error('was told to go on')))
        outgoing.on('error', reject)
        outgoing.flushHeaders()
      })
      expect(answer).toBe(413)
    }
  })

  test('hold for SHA256SUMS and signatures, too', async () => {
    const organization = await server.organization()
    const { archives, key, links } = await drafts(organization, 1)
    const shasums = Buffer.from(`${sha256((archives[0] as (typeof archives)[0]).bytes)}  a0.zip\n`)
    await setQuota(server, organization, shasums.length - 1)
    expect((await put(links['shasums-upload'], shasums)).status).toBe(413)
    expect((await putChunked(links['shasums-upload'], shasums)).status).toBe(413)
    await setQuota(server, organization, shasums.length + 1)
    expect((await put(links['shasums-upload'], shasums)).status).toBe(200)
    expect((await put(links['shasums-sig-upload'], await key.sign(shasums))).status).toBe(413)
    expect((await putChunked(links['shasums-sig-upload'], await key.sign(shasums))).status).toBe(413)
  })

  test('are freed by deletions, of platforms, versions and providers', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { path, archives, size } = await drafts(organization, 3)
    const sendTo = async (index: number) => {
      const { url, bytes } = archives[index] as (typeof archives)[0]
      return (await put(url, bytes)).status
    }
    await setQuota(server, organization, 2 * size)
    expect([await sendTo(0), await sendTo(1), await sendTo(2)]).toEqual([200, 200, 413])
    expectStatus(await owner.delete(`${path}/versions/1.0.0/platforms/linux/a0`), 204)
    expect(await sendTo(2)).toBe(200)
    expect(await usage(server, organization)).toBe(2 * size)
    expectStatus(await owner.delete(`${path}/versions/1.0.0`), 204)
    expect(await usage(server, organization)).toBe(0)
    await publish(organization, 'other', '1.0.0').catch(() => undefined)
    expect(await usage(server, organization)).toBeGreaterThan(0)
    const other = `${organization.path}/registry-providers/private/${organization.name}/other`
    expectStatus(await owner.delete(other), 204)
    expect(await usage(server, organization)).toBe(0)
  })

  test('count each organization for itself', async () => {
    const full = await server.organization()
    const other = await server.organization()
    await setQuota(server, full, 1)
    await publish(other, 'demo', '1.0.0')
    expect(await usage(server, full)).toBe(0)
    expect(await usage(server, other)).toBeGreaterThan(0)
  })

  test('race: uploads that end at the same moment do not pass together', async () => {
    const organization = await server.organization()
    const { archives, size } = await drafts(organization, 6)
    await setQuota(server, organization, 2 * size)
    const answers = await Promise.all(archives.map(({ url, bytes }) => put(url, bytes)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 413, 413, 413, 413])
    expect(await usage(server, organization)).toBe(2 * size)
  })
})

onEachDialect(
  'a quota for all organizations',
  (server) => {
    test('counts where an organization has none of its own', async () => {
      const organization = await server.organization()
      const { archives } = await drafts(organization, 1)
      const { url, bytes } = archives[0] as (typeof archives)[0]
      expect((await put(url, bytes)).status).toBe(413)
      expect((await server.admin.get(adminPath(organization))).body.data.attributes).toMatchObject({
        'registry-quota-bytes': null,
        'registry-allowed-bytes': 10,
      })
      expect(await setQuota(server, organization, 0)).toMatchObject({ 'registry-allowed-bytes': 0 })
      expect((await put(url, bytes)).status).toBe(200)
      await setQuota(server, organization, null)
      expect((await server.admin.get(adminPath(organization))).body.data.attributes).toMatchObject({
        'registry-allowed-bytes': 10,
      })
    })
  },
  { PLINTH_REGISTRY_QUOTA_BYTES: '10' },
)
