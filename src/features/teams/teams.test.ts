import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  violations,
} from '../../../test/harness.ts'
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
  const owners = async ({ path, owner }: TestOrganization): Promise<string> => {
    return (await owner.get(`${path}/teams?filter[names]=owners`)).body.data[0].id
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

  test('take members in and let them go, by name and by membership', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const one = await server.member(organization)
    const two = await server.member(organization)
    const stranger = await server.user()
    const url = `/api/v2/teams/${await server.team(organization)}`
    const inTeam = async () =>
      (await owner.get(url)).body.data.relationships.users.data.map(({ id }: { id: string }) => id)

    const added = await owner.post(
      `${url}/relationships/users`,
      users(one.username.toUpperCase(), two.username),
    )
    expect(added).toMatchObject({ status: 204, text: '' })
    expect((await owner.post(`${url}/relationships/users`, users(one.username))).status).toBe(204)
    expect(await inTeam()).toEqual([one.id, two.id])
    expect((await owner.delete(`${url}/relationships/users`, users(one.username))).status).toBe(204)
    expect(await inTeam()).toEqual([two.id])

    const byId = `${url}/relationships/organization-memberships`
    expect((await owner.post(byId, memberships(one.membershipId))).status).toBe(204)
    expect(await inTeam()).toEqual([one.id, two.id])
    const list = await owner.get(`${byId}?page[size]=1&page[number]=2`)
    expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([two.membershipId])
    expect((await owner.delete(byId, memberships(one.membershipId, two.membershipId))).status).toBe(204)
    expect(await inTeam()).toEqual([])

    const refused = await owner.post(
      `${url}/relationships/users`,
      users(one.username, stranger.username, 'x'),
    )
    expect(refused.status).toBe(422)
    expect(pointers(refused)).toEqual(['/data/1/id', '/data/2/id'])
    expect(await inTeam()).toEqual([])
    const elsewhere = await server.member(await server.organization())
    expect(pointers(await owner.post(byId, memberships(elsewhere.membershipId)))).toEqual(['/data/0/id'])
    expect(pointers(await owner.post(byId, users(one.username)))).toEqual(['/data/0/type'])
    expect(pointers(await owner.post(byId, {}))).toEqual(['/data'])
  })

  test('give their rights while a member is in them, and take them back', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const member = await server.member(organization)
    const team = await server.team(organization, ['manage-teams'])
    const tryIt = () => member.post(`${path}/teams`, { data: {} })
    expect((await tryIt()).status).toBe(404)
    await owner.post(`/api/v2/teams/${team}/relationships/users`, users(member.username))
    expect((await tryIt()).status).toBe(422)
    await owner.patch(`/api/v2/teams/${team}`, body({ 'organization-access': { 'manage-teams': false } }))
    expect((await tryIt()).status).toBe(404)
    await owner.patch(`/api/v2/teams/${team}`, body({ 'organization-access': { 'manage-teams': true } }))
    await owner.delete(`/api/v2/teams/${team}/relationships/users`, users(member.username))
    expect((await tryIt()).status).toBe(404)
  })

  test('that are secret are seen by members, owners and whoever may access secret teams', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const insider = await server.member(organization, ['manage-modules'])
    const outsider = await server.member(organization)
    const trusted = await server.member(organization, ['access-secret-teams'])
    const open = await create(owner, path, { name: 'open', visibility: 'organization' })
    const secret = `/api/v2/teams/${insider.teamId}`
    const statusFor = async (client: Client) => (await client.get(secret)).status
    expect(await Promise.all([owner, insider, trusted, outsider].map(statusFor))).toEqual([
      200, 200, 200, 404,
    ])
    expect(await statusFor(await server.organizationToken(organization))).toBe(200)
    expect(await statusFor(await server.teamToken(organization))).toBe(404)
    expect(names(await outsider.get(`${path}/teams`))).toEqual(['open'])
    expect((await outsider.get(`${path}/teams`)).body.meta.pagination['total-count']).toBe(1)
    expect((await insider.get(`${path}/teams`)).body.data).toHaveLength(2)
    expect((await trusted.get(`${path}/teams`)).body.meta.pagination['total-count']).toBe(5)
    expect((await outsider.get(`/api/v2/teams/${open.id}`)).status).toBe(200)
    const seen = await outsider.get(`/api/v2/organization-memberships/${insider.membershipId}?include=teams`)
    expect(seen.body.data.relationships.teams.data).toEqual([])
    expect(seen.body.included).toEqual([])
    expect((await outsider.get(`${secret}/relationships/organization-memberships`)).status).toBe(404)
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

  test('of owners cannot be renamed, deleted, weakened or emptied', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const url = `/api/v2/teams/${await owners(organization)}`
    const shown = (await owner.get(url)).body.data
    expect(shown.attributes).toMatchObject({
      name: 'owners',
      'users-count': 1,
      'organization-access': access(...GRANTS),
      permissions: {
        'can-destroy': false,
        'can-update-name': false,
        'can-update-organization-access': false,
      },
    })
    const renamed = await owner.patch(
      url,
      body({ name: 'kings', 'organization-access': { 'manage-teams': false, 'manage-modules': true } }),
    )
    expect(renamed.status).toBe(422)
    expect(pointers(renamed)).toEqual([
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-teams',
    ])
    const same = await owner.patch(url, body({ name: 'owners', visibility: 'organization' }))
    expect(same.body.data.attributes).toMatchObject({ name: 'owners', visibility: 'organization' })
    expect((await owner.delete(url)).status).toBe(409)

    const last = await owner.delete(`${url}/relationships/users`, users(owner.username))
    expect(last.status).toBe(409)
    const second = await server.member(organization)
    await owner.post(`${url}/relationships/users`, users(second.username))
    const everybody = users(owner.username, second.username)
    expect((await second.delete(`${url}/relationships/users`, everybody)).status).toBe(409)
    expect((await second.delete(`${url}/relationships/users`, users(owner.username))).status).toBe(204)
    expect((await owner.get(`${organization.path}/authentication-token`)).status).toBe(404)
    expect((await second.get(url)).body.data.attributes['users-count']).toBe(1)
  })

  test('of owners need somebody who can use them: an invitation is not enough', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const id = await owners(organization)
    expectStatus(
      await owner.post(`${path}/organization-memberships`, {
        data: {
          type: 'organization-memberships',
          attributes: { email: `not-yet-${owner.email}` },
          relationships: { teams: { data: [{ id, type: 'teams' }] } },
        },
      }),
      201,
    )
    const url = `/api/v2/teams/${id}/relationships/users`
    expect((await owner.delete(url, users(owner.username))).status).toBe(409)
  })

  test('race: of two owners who remove each other one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const organization = await server.organization()
      const { owner } = organization
      const url = `/api/v2/teams/${await owners(organization)}/relationships/users`
      const second = await server.member(organization)
      expectStatus(await owner.post(url, users(second.username)), 204)
      const statuses = await Promise.all([
        owner.delete(url, users(second.username)),
        second.delete(url, users(owner.username)),
      ]).then((answers) => answers.map(({ status }) => status))
      expect(statuses).toContain(204)
      const left = [owner, second].map((client) => client.get(url.replace('/relationships/users', '')))
      const visible = (await Promise.all(left)).filter(({ status }) => status === 200)
      expect(visible.length).toBeGreaterThan(0)
    }
  })
})
