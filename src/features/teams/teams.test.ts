import { expect, test } from 'vitest'
import { type Answer, type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { GRANTS } from '../../auth/permissions.ts'

const body = (attributes: object) => ({ data: { type: 'teams', attributes } })
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) })
const memberships = (...ids: string[]) => ({
  data: ids.map((id) => ({ type: 'organization-memberships', id })),
})
const access = (...grants: string[]) =>
  Object.fromEntries(GRANTS.map((grant) => [grant, grants.includes(grant)]))
const names = (answer: Answer) =>
  answer.body.data.map((item: { attributes: { name: string } }) => item.attributes.name)

onEachDialect('teams', (server) => {
  const create = async (client: Client, path: string, attributes: object) => {
    return expectStatus(await client.post(`${path}/teams`, body(attributes)), 201).body.data
  }
  test('are created, shown, changed and deleted', async () => {
    const { owner, path, name } = await server.organization()
    const created = await create(owner, path, {
      name: 'platform',
      'sso-team-id': 'sso',
      visibility: 'organization',
      'allow-member-token-management': false,
      'organization-access': { 'manage-providers': true, 'manage-public-providers': true },
    })
    const self = `/api/v2/teams/${created.id}`
    expect(created).toEqual({
      id: expect.stringMatching(/^team-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'teams',
      attributes: {
        name: 'platform',
        'sso-team-id': 'sso',
        visibility: 'organization',
        'allow-member-token-management': false,
        'is-unified': false,
        'users-count': 0,
        'organization-access': access('manage-providers'),
        permissions: {
          'can-destroy': true,
          'can-update-membership': true,
          'can-update-organization-access': true,
          'can-update-api-token': true,
          'can-view-api-token': true,
          'can-update-visibility': true,
          'can-update-name': true,
          'can-update-sso-team-id': true,
          'can-update-member-token-management': true,
        },
      },
      relationships: {
        organization: { data: { id: name, type: 'organizations' } },
        users: { data: [] },
        'organization-memberships': { data: [] },
        'authentication-token': { links: { related: `${self}/authentication-token` } },
        'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
      },
      links: { self },
    })
    expect((await owner.get(self)).body.data).toEqual(created)

    const changed = await owner.patch(
      self,
      body({ 'sso-team-id': '', 'organization-access': { 'manage-modules': true } }),
    )
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toEqual({
      ...created.attributes,
      'sso-team-id': null,
      'organization-access': access('manage-modules', 'manage-providers'),
    })
    const off = await owner.patch(self, body({ 'organization-access': { 'manage-providers': false } }))
    expect(off.body.data.attributes['organization-access']).toEqual(access('manage-modules'))

    expect(await owner.delete(self)).toMatchObject({ status: 204, text: '' })
    expect((await owner.get(self)).status).toBe(404)
    expect((await owner.delete(self)).status).toBe(404)
  })

  test('are secret and leave their tokens to their members unless they say otherwise', async () => {
    const { owner, path } = await server.organization()
    const { attributes } = await create(owner, path, { name: 'plain' })
    expect(attributes).toMatchObject({
      visibility: 'secret',
      'sso-team-id': null,
      'allow-member-token-management': true,
      'organization-access': access(),
    })
  })

  test('come in pages, searched and filtered', async () => {
    const { owner, path } = await server.organization()
    for (const name of ['beta', 'Alpha', 'gamma_ray']) await create(owner, path, { name })
    const second = await owner.get(`${path}/teams?page[size]=3&page[number]=2`)
    expect(second.body.data).toHaveLength(1)
    expect(second.body.meta.pagination).toMatchObject({
      'current-page': 2,
      'total-count': 4,
      'next-page': null,
    })
    expect((await owner.get(`${path}/teams?page[number]=9`)).body.data).toEqual([])
    expect(names(await owner.get(`${path}/teams?q=ALPH`))).toEqual(['Alpha'])
    expect(names(await owner.get(`${path}/teams?q=_`))).toEqual(['gamma_ray'])
    expect(names(await owner.get(`${path}/teams?filter[names]=beta,ALPHA,none`)).sort()).toEqual([
      'Alpha',
      'beta',
    ])
    expect(names(await owner.get(`${path}/teams?filter[names]=none`))).toEqual([])
    expect(names(await owner.get(`${path}/teams?filter[names]=`))).toEqual([])
  })

  test('bring their users and memberships along', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const member = await server.member(organization, ['manage-modules'])
    await owner.post(`${path}/organization-memberships`, {
      data: {
        type: 'organization-memberships',
        attributes: { email: `later-${member.email}` },
        relationships: { teams: { data: [{ id: member.teamId, type: 'teams' }] } },
      },
    })
    const url = `/api/v2/teams/${member.teamId}`
    const plain = await owner.get(url)
    expect(plain.body.included).toBeUndefined()
    expect(plain.body.data.attributes['users-count']).toBe(1)
    expect(plain.body.data.relationships.users).toEqual({ data: [{ id: member.id, type: 'users' }] })
    expect(plain.body.data.relationships['organization-memberships'].data).toHaveLength(2)

    const both = await owner.get(`${url}?include=users,organization_memberships`)
    const included = both.body.included as { id: string; type: string; attributes: object }[]
    expect(included.map(({ type }) => type).sort()).toEqual([
      'organization-memberships',
      'organization-memberships',
      'users',
    ])
    expect(included.find(({ type }) => type === 'users')).toMatchObject({
      id: member.id,
      attributes: { username: member.username },
    })
    const listed = await owner.get(`${path}/teams?include=users`)
    expect(listed.body.included.map(({ id }: { id: string }) => id).sort()).toEqual(
      [member.id, owner.id].sort(),
    )
    const wrong = await owner.get(`${url}?include=secrets`)
    expect(wrong.status).toBe(400)
    expect(wrong.body.errors[0]).toMatchObject({
      detail: expect.stringContaining('include parameter'),
      source: { parameter: 'include' },
    })
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const created = await create(owner, path, { name: 'taken' })
    const other = await create(owner, path, { name: 'other' })
    const wrong = await owner.post(
      `${path}/teams`,
      body({ name: 'two words', visibility: 'public', 'organization-access': { 'manage-teams': 'yes' } }),
    )
    expect(violations(wrong)).toEqual([
      {
        pointer: '/data/attributes/name',
        detail: 'Name is invalid: letters, digits, hyphens and underscores only',
      },
      {
        pointer: '/data/attributes/organization-access/manage-teams',
        detail: 'Manage teams must be a boolean',
      },
      { pointer: '/data/attributes/visibility', detail: 'Visibility must be secret or organization' },
    ])
    expect(violations(await owner.post(`${path}/teams`, { data: {} }))).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    for (const answer of [
      await owner.post(`${path}/teams`, body({ name: 'TAKEN' })),
      await owner.post(`${path}/teams`, body({ name: 'owners' })),
      await owner.patch(`/api/v2/teams/${other.id}`, body({ name: created.attributes.name })),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/name', detail: 'Name has already been taken' },
      ])
    }
  })

  test('race: of creates of one name exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`${path}/teams`, body({ name: 'race' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('do not exist for strangers, and cannot be changed by members', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await create(owner, path, { name: 'open', visibility: 'organization' })
    const url = `/api/v2/teams/${id}`
    const stranger = await server.user()
    const member = await server.member(organization)
    const writes = (client: Client) => [
      client.post(`${path}/teams`, body({ name: 'x' })),
      client.patch(url, body({ name: 'x' })),
      client.delete(url),
      client.post(`${url}/relationships/users`, users(member.username)),
      client.delete(`${url}/relationships/users`, users(member.username)),
      client.post(`${url}/relationships/organization-memberships`, memberships(member.membershipId)),
      client.delete(`${url}/relationships/organization-memberships`, memberships(member.membershipId)),
    ]
    const reads = (client: Client) => [
      client.get(`${path}/teams`),
      client.get(url),
      client.get(`${url}/relationships/organization-memberships`),
    ]
    const elsewhere = await server.organization()
    for (const outside of [
      stranger,
      elsewhere.owner,
      await server.organizationToken(elsewhere),
      server.admin,
    ]) {
      for (const answer of await Promise.all([...writes(outside), ...reads(outside)])) {
        expect(answer.status).toBe(404)
      }
    }
    for (const inside of [member, await server.teamToken(organization)]) {
      for (const answer of await Promise.all(writes(inside))) expect(answer.status).toBe(404)
      for (const answer of await Promise.all(reads(inside))) expect(answer.status).toBe(200)
    }
    expect((await server.nobody.get(url)).status).toBe(401)
  })
})
