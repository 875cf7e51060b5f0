import { expect, test } from 'vitest'
import { onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { addKey, createProvider, createVersion, makeKey, versionBody } from '../../../test/registry.ts'

onEachDialect('registry provider versions', (server) => {
  const provider = async () => {
    const organization = await server.organization()
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    return { organization, owner: organization.owner, path, key }
  }

  test('are created, shown, listed and deleted', async () => {
    const { organization, owner, path, key } = await provider()
    const attributes = {
      version: '1.2.3-rc.1+build.5',
      'key-id': key.keyId.toLowerCase(),
      protocols: ['5.0', '6.0'],
    }
    const created = await owner.post(`${path}/versions`, versionBody(attributes))
    expect(created.status).toBe(201)
    const member = `${path}/versions/${encodeURIComponent('1.2.3-rc.1+build.5')}`
    const link = (kind: string) =>
      expect.stringMatching(
        new RegExp(`^${server.url}/storage/${kind}/provver-\\w{16}/\\d+/[\\w-]{43}\\.at-\\w{16}$`),
      )
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^provver-\w{16}$/),
      type: 'registry-provider-versions',
      attributes: {
        version: '1.2.3-rc.1+build.5',
        'key-id': key.keyId,
        protocols: ['5.0', '6.0'],
        'created-at': expect.stringMatching(/\.\d{3}Z$/),
        'updated-at': expect.stringMatching(/\.\d{3}Z$/),
        'shasums-uploaded': false,
        'shasums-sig-uploaded': false,
        status: 'draft',
        'published-at': null,
        downloads: 0,
        deprecation: null,
        revocation: null,
        'docs-shasum': null,
        'key-expires-at': null,
        warnings: [],
        permissions: { 'can-delete': true, 'can-upload-asset': true },
      },
      relationships: {
        'registry-provider': { data: { id: expect.stringMatching(/^prov-/), type: 'registry-providers' } },
        platforms: { data: [], links: { related: `${member}/platforms` } },
        consumers: { links: { related: `${member}/consumers` } },
      },
      links: {
        'shasums-upload': link('provider-shasums'),
        'shasums-sig-upload': link('provider-shasums-sig'),
        'docs-upload': link('provider-docs'),
      },
    })
    expect((await owner.get(member)).body.data.id).toBe(created.body.data.id)
    const viewer = await server.member(organization)
    const seen = (await viewer.get(member)).body.data
    expect(seen.attributes.permissions).toEqual({ 'can-delete': false, 'can-upload-asset': false })
    expect(seen.links).toEqual({})
    expect((await owner.get(`${path}/versions/`)).body.data).toHaveLength(1)
    expect((await owner.delete(member)).status).toBe(204)
    expect((await owner.get(member)).status).toBe(404)
    expect((await owner.delete(member)).status).toBe(404)
  })

  test('come in pages', async () => {
    const { owner, path, key } = await provider()
    for (const version of ['1.0.0', '2.0.0', '1.1.0']) await createVersion(owner, path, version, key)
    const second = await owner.get(`${path}/versions?page[number]=2&page[size]=2`)
    expect(second.body.data.map((item: { attributes: object }) => item.attributes)).toMatchObject([
      { version: '1.1.0' },
    ])
    expect(second.body.meta.pagination).toMatchObject({ 'total-pages': 2, 'total-count': 3, 'prev-page': 1 })
    const beyond = await owner.get(`${path}/versions?page[number]=5`)
    expect(beyond.body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 5, 'total-count': 3 } },
    })
    expect((await owner.get(`${path}/versions?page[size]=0`)).status).toBe(400)
  })

  test('are created with the empty type that the Go client sends, and with no other', async () => {
    const { owner, path, key } = await provider()
    const attributes = { version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] }
    expect((await owner.post(`${path}/versions`, versionBody(attributes, ''))).status).toBe(201)
    const again = { ...attributes, version: '1.0.1' }
    expect(pointers(await owner.post(`${path}/versions`, versionBody(again, 'versions')))).toEqual([
      '/data/type',
    ])
    expect(pointers(await owner.post(`${path}/versions`, { data: { attributes: again } }))).toEqual([
      '/data/type',
    ])
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path, key } = await provider()
    const post = (attributes: object) => owner.post(`${path}/versions`, versionBody(attributes))
    expect(pointers(await post({}))).toEqual([
      '/data/attributes/key-id',
      '/data/attributes/protocols',
      '/data/attributes/version',
    ])
    for (const version of ['v1.0.0', '1.0', '01.0.0', '1.0.0-', 'latest', '1.0.0/..', 1]) {
      const answer = await post({ version, 'key-id': key.keyId, protocols: ['5.0'] })
      expect([version, answer.status, pointers(answer)]).toEqual([version, 422, ['/data/attributes/version']])
    }
    for (const protocols of [[], null, '5.0', ['5.0', '5.0']]) {
      const answer = await post({ version: '1.0.0', 'key-id': key.keyId, protocols })
      expect(pointers(answer)).toEqual(['/data/attributes/protocols'])
    }
    const protocol = await post({ version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0', '7.0'] })
    expect(pointers(protocol)).toEqual(['/data/attributes/protocols/1'])
    await createVersion(owner, path, '1.0.0', key)
    const taken = await post({ version: '1.0.0', 'key-id': '0123456789ABCDEF', protocols: ['5.0'] })
    expect(violations(taken)).toEqual([
      { pointer: '/data/attributes/key-id', detail: expect.stringContaining('not a registered signing key') },
      { pointer: '/data/attributes/version', detail: 'Version has already been taken' },
    ])
  })

  test('do not exist for strangers, and members without the right only look', async () => {
    const { organization, owner, path, key } = await provider()
    await createVersion(owner, path, '1.0.0', key)
    const stranger = await server.user()
    const member = await server.member(organization)
    for (const client of [stranger, member]) {
      expect((await client.post(`${path}/versions`, {})).status).toBe(404)
      expect((await client.delete(`${path}/versions/1.0.0`)).status).toBe(404)
    }
    for (const address of [`${path}/versions`, `${path}/versions/1.0.0`]) {
      expect((await stranger.get(address)).status).toBe(404)
      expect((await member.get(address)).status).toBe(200)
      expect((await server.nobody.get(address)).status).toBe(401)
    }
    expect((await owner.get(`${path.replace('/demo', '/other')}/versions`)).status).toBe(404)
    expect((await owner.post(`${path.replace('/demo', '/other')}/versions`, {})).status).toBe(404)
  })

  test('race: of simultaneous creates exactly one wins', async () => {
    const { owner, path, key } = await provider()
    const body = versionBody({ version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] })
    const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post(`${path}/versions`, body)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(5).fill(422)])
    expect(violations(answers.find((answer) => answer.status === 422) as never)).toEqual([
      { pointer: '/data/attributes/version', detail: 'Version has already been taken' },
    ])
  })
})
