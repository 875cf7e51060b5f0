import { expect, test } from 'vitest'
import {
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  type TestUser,
  violations,
} from '../../../test/harness.ts'
import {
  addKey,
  createProvider,
  createVersion,
  makeKey,
  platformBody,
  publish,
  put,
  versionBody,
} from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { Visitor } from '../../../test/visitor.ts'

const ids = (...names: string[]) => ({
  'registry-providers': { data: names.map((id) => ({ id, type: 'registry-providers' })) },
})

const limitedTo = (...providerIds: string[]) =>
  document('authentication-tokens', { description: 'release' }, ids(...providerIds))

onEachDialect('tokens that are limited to providers', (server) => {
  const idOf = async ({ owner }: TestOrganization, path: string) =>
    expectStatus(await owner.get(path), 200).body.data.id

  /** An organization with two providers, and a token of its owner that may publish the first. */
  const setUp = async () => {
    const organization = await server.organization()
    const path = await createProvider(organization, 'mine')
    const otherPath = await createProvider(organization, 'other')
    const key = await addKey(organization, await makeKey())
    const providerId = await idOf(organization, path)
    const tokens = `/api/v2/users/${organization.owner.id}/authentication-tokens`
    const created = expectStatus(await organization.owner.post(tokens, limitedTo(providerId)), 201).body.data
    const limited = server.as(created.attributes.token)
    return { organization, owner: organization.owner, path, otherPath, key, providerId, created, limited }
  }

  test('are made, and show what they are limited to', async () => {
    const { owner, created, providerId } = await setUp()
    const relationship = { data: [{ id: providerId, type: 'registry-providers' }] }
    expect(created.relationships).toEqual({
      'created-by': { data: { id: owner.id, type: 'users' } },
      'registry-providers': relationship,
    })
    const shown = await owner.get(`/api/v2/authentication-tokens/${created.id}`)
    expect(shown.body.data.relationships['registry-providers']).toEqual(relationship)
    const all = await owner.get(`/api/v2/users/${owner.id}/authentication-tokens`)
    expect(all.body.data[0].relationships).not.toHaveProperty('registry-providers')
  })

  test('publish their provider, from the first call to the last, and take it back', async () => {
    const { organization, path, key, limited } = await setUp()
    const publisher = { ...organization, owner: limited as TestUser }
    await publish(publisher, 'mine', '1.0.0', { key, path })
    const cli = `/api/registry/v1/providers/${organization.name}/mine`
    expect((await limited.get(`${cli}/versions`)).body.versions).toHaveLength(1)
    expect((await limited.get(`${cli}/1.0.0/download/linux/amd64`)).status).toBe(200)
    const { attributes } = (await limited.get(`${path}/versions/1.0.0`)).body.data
    expect(attributes.permissions).toEqual({ 'can-delete': true, 'can-upload-asset': true })
    expect((await limited.delete(`${path}/versions/1.0.0/platforms/linux/amd64`)).status).toBe(204)
    expect((await limited.delete(`${path}/versions/1.0.0`)).status).toBe(204)
  })

  test('read the registry, and nothing of another provider changes by them', async () => {
    const { organization, owner, otherPath, key, limited } = await setUp()
    await createVersion(owner, otherPath, '1.0.0', key)
    for (const address of [
      `${organization.path}/registry-providers`,
      otherPath,
      `${otherPath}/versions`,
      `${otherPath}/versions/1.0.0`,
      `${otherPath}/versions/1.0.0/platforms`,
      `/api/registry/private/v2/gpg-keys?filter[namespace]=${organization.name}`,
      `/api/registry/private/v2/gpg-keys/${organization.name}/${key.keyId}`,
    ]) {
      expect([address, (await limited.get(address)).status]).toEqual([address, 200])
    }
    const version = versionBody({ version: '2.0.0', 'key-id': key.keyId, protocols: ['5.0'] })
    const platform = platformBody({ os: 'a', arch: 'b', filename: 'c.zip', shasum: 'a'.repeat(64) })
    expect((await limited.post(`${otherPath}/versions`, version)).status).toBe(404)
    expect((await limited.post(`${otherPath}/versions/1.0.0/platforms`, platform)).status).toBe(404)
    expect((await limited.delete(`${otherPath}/versions/1.0.0`)).status).toBe(404)
    const { data } = (await limited.get(`${otherPath}/versions/1.0.0`)).body
    expect(data.links).toEqual({})
    expect(data.attributes.permissions).toEqual({ 'can-delete': false, 'can-upload-asset': false })
  })

  test('may do nothing else, not even to themselves', async () => {
    const { organization, owner, path, key, limited, created } = await setUp()
    const { name, path: home } = organization
    const refused: [string, string, unknown?][] = [
      ['DELETE', path],
      [
        'POST',
        `${home}/registry-providers`,
        document('registry-providers', { name: 'new', namespace: name, 'registry-name': 'private' }),
      ],
      [
        'POST',
        '/api/registry/private/v2/gpg-keys',
        document('gpg-keys', { namespace: name, 'ascii-armor': (await makeKey()).armor }),
      ],
      ['DELETE', `/api/registry/private/v2/gpg-keys/${name}/${key.keyId}`],
      ['GET', '/api/v2/organizations'],
      ['GET', home],
      ['PATCH', home, document('organizations', { 'provider-version-reuse-enabled': true })],
      ['GET', `${home}/entitlement-set`],
      ['GET', `${home}/workspaces`],
      ['POST', `${home}/workspaces`, document('workspaces', { name: 'w' })],
      ['GET', `${home}/teams`],
      ['POST', `${home}/teams`, document('teams', { name: 't' })],
      ['GET', `${home}/organization-memberships`],
      ['GET', '/api/v2/account/details'],
      ['PATCH', '/api/v2/account/update', document('users', { username: 'x' })],
      ['GET', `/api/v2/users/${owner.id}`],
      ['GET', `/api/v2/users/${owner.id}/authentication-tokens`],
      ['POST', `/api/v2/users/${owner.id}/authentication-tokens`, document('authentication-tokens', {})],
      ['GET', `/api/v2/authentication-tokens/${created.id}`],
      ['DELETE', `/api/v2/authentication-tokens/${created.id}`],
      ['POST', `${home}/authentication-token`],
      ['DELETE', home],
    ]
    for (const [method, address, body] of refused) {
      const { status } = await limited.send(method, address, body)
      expect([method, address, status]).toEqual([method, address, 404])
    }
    const browser = new Visitor(server)
    await browser.signInWithToken(limited.token as string)
    expect(await browser.signedInAs()).toBeUndefined()
  })

  test('of site administrators are no site administrators', async () => {
    const { organization, path, providerId } = await setUp()
    const admin = (await server.admin.get('/api/v2/account/details')).body.data
    const tokens = `/api/v2/users/${admin.id}/authentication-tokens`
    // An administrator who is not in the organization does not see its providers.
    expect(pointers(await server.admin.post(tokens, limitedTo(providerId)))).toEqual([
      '/data/relationships/registry-providers/data/0/id',
    ])
    const joined = document('organization-memberships', { email: admin.attributes.email })
    expectStatus(await organization.owner.post(`${organization.path}/organization-memberships`, joined), 201)
    const created = expectStatus(await server.admin.post(tokens, limitedTo(providerId)), 201).body.data
    const limited = server.as(created.attributes.token)
    expect((await limited.get('/api/v2/admin/users')).status).toBe(404)
    expect((await limited.get(`/api/v2/admin/organizations/${organization.name}`)).status).toBe(404)
    expect((await limited.get(tokens)).status).toBe(404)
    expect((await limited.get(path)).status).toBe(200)
  })

  test('may no more than their owners may', async () => {
    const { organization, path, key, providerId } = await setUp()
    const version = versionBody({ version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] })
    const member = await server.member(organization)
    const tokens = `/api/v2/users/${member.id}/authentication-tokens`
    const created = expectStatus(await member.post(tokens, limitedTo(providerId)), 201).body.data
    const limited = server.as(created.attributes.token)
    expect((await limited.get(path)).status).toBe(200)
    expect((await limited.post(`${path}/versions`, version)).status).toBe(404)
    expectStatus(
      await organization.owner.delete(`/api/v2/organization-memberships/${member.membershipId}`),
      204,
    )
    expect((await limited.get(path)).status).toBe(404)
  })

  test('of teams work the same, also in place of the one without a description', async () => {
    const { organization, owner, path, otherPath, key, providerId } = await setUp()
    const team = await server.team(organization, ['manage-providers'])
    const single = { data: { type: 'authentication-tokens', relationships: ids(providerId) } }
    const answers = [
      await owner.post(`/api/v2/teams/${team}/authentication-tokens`, limitedTo(providerId)),
      await owner.post(`/api/v2/teams/${team}/authentication-token`, single),
    ]
    for (const [index, answer] of answers.entries()) {
      const { attributes } = expectStatus(answer, 201).body.data
      const limited = server.as(attributes.token)
      await createVersion(limited, path, `1.0.${index}`, key)
      const version = versionBody({ version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] })
      expect((await limited.post(`${otherPath}/versions`, version)).status).toBe(404)
      expect((await limited.get('/api/v2/account/details')).status).toBe(404)
      expect((await limited.get(`${organization.path}/team-tokens`)).status).toBe(404)
    }
  })

  test('are refused when they name nothing, or what they cannot be limited to', async () => {
    const { organization, owner, providerId } = await setUp()
    const foreign = await server.organization()
    const foreignId = await idOf(foreign, await createProvider(foreign, 'theirs'))
    const tokens = `/api/v2/users/${owner.id}/authentication-tokens`
    const at = (rest: string) => `/data/relationships/registry-providers${rest}`
    expect(pointers(await owner.post(tokens, limitedTo()))).toEqual([at('/data')])
    const strange = await owner.post(tokens, limitedTo(providerId, 'prov-none', foreignId))
    expect(violations(strange)).toEqual([
      { pointer: at('/data/1/id'), detail: expect.stringContaining('that you may see') },
      { pointer: at('/data/2/id'), detail: expect.stringContaining('that you may see') },
    ])
    const wrongType = document(
      'authentication-tokens',
      {},
      { 'registry-providers': { data: [{ id: 'x', type: 'teams' }] } },
    )
    expect(pointers(await owner.post(tokens, wrongType))).toEqual([at('/data/0/type')])
    const single = `${organization.path}/authentication-token`
    expect(pointers(await owner.post(single, limitedTo(providerId)))).toEqual([at('')])
    expect((await owner.get(single)).status).toBe(404)
    // Somebody who is in both organizations cannot mix them in the token of a team.
    const team = await server.team(foreign, ['manage-providers'])
    const invited = document('organization-memberships', { email: foreign.owner.email })
    expectStatus(await owner.post(`${organization.path}/organization-memberships`, invited), 201)
    const mixed = await foreign.owner.post(
      `/api/v2/teams/${team}/authentication-tokens`,
      limitedTo(providerId),
    )
    expect(pointers(mixed)).toEqual([at('/data/0/id')])
  })

  test('end with their provider: another one of its name is another one', async () => {
    const { organization, owner, path, key, limited } = await setUp()
    expectStatus(await owner.delete(path), 204)
    await createProvider(organization, 'mine')
    const version = versionBody({ version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] })
    expect((await limited.post(`${path}/versions`, version)).status).toBe(404)
    expect((await limited.get(path)).status).toBe(200)
  })

  test('cannot use the links that others got', async () => {
    const { owner, otherPath, key, limited } = await setUp()
    const { links } = await createVersion(owner, otherPath, '1.0.0', key)
    const forged = (links['shasums-upload'] as string).replace(/\.at-\w+$/, '')
    expect((await put(forged, 'x', bearer(limited))).status).toBe(404)
    expect(
      (await put(links['shasums-upload'].replace('provider-shasums', 'provider-shasums-sig'), 'x')).status,
    ).toBe(404)
  })
})

const bearer = ({ token }: Client) => ({ authorization: `Bearer ${token}` })
