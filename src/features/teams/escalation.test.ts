import { expect, test } from 'vitest'
import {
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  type TestOrganization,
  unique,
} from '../../../test/harness.ts'
import { GRANTS, PERMISSIONS } from '../../auth/permissions.ts'

const body = (attributes: object) => ({ data: { type: 'teams', attributes } })
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) })
const switches = (value: boolean, ...grants: string[]) => ({
  'organization-access': Object.fromEntries(grants.map((grant) => [grant, value])),
})

/** Every grant that concerns people and teams, and none that gives anything else. */
const TEAM_ADMIN = ['manage-teams', 'manage-membership', 'manage-organization-access', 'access-secret-teams']

onEachDialect('nobody gives rights that they do not have', (server) => {
  const ownersUrl = async ({ path, owner }: TestOrganization) => {
    return `/api/v2/teams/${(await owner.get(`${path}/teams?filter[names]=owners`)).body.data[0].id}`
  }
  const invite = (client: Client, path: string, email: string, teamId: string) =>
    client.post(`${path}/organization-memberships`, {
      data: {
        type: 'organization-memberships',
        attributes: { email },
        relationships: { teams: { data: [{ id: teamId, type: 'teams' }] } },
      },
    })

  test('with the rights of a team', async () => {
    const organization = await server.organization()
    const { path } = organization
    const admin = await server.member(organization, TEAM_ADMIN)
    for (const grant of GRANTS) {
      const name = `team-${unique()}`
      const answer = await admin.post(`${path}/teams`, body({ name, ...switches(true, grant) }))
      const held = TEAM_ADMIN.includes(grant)
      expect([grant, answer.status]).toEqual([grant, held ? 201 : 422])
      if (!held) expect(pointers(answer)).toEqual([`/data/attributes/organization-access/${grant}`])
      const own = await admin.patch(`/api/v2/teams/${admin.teamId}`, body(switches(true, grant)))
      expect([grant, own.status]).toEqual([grant, held ? 200 : 422])
    }
    const several = switches(true, 'manage-providers', 'manage-projects', 'manage-teams')
    expect(pointers(await admin.post(`${path}/teams`, body({ name: 'greedy', ...several })))).toEqual([
      '/data/attributes/organization-access/manage-projects',
      '/data/attributes/organization-access/manage-providers',
    ])
  })

  test('even though they manage teams, without managing organization access', async () => {
    const organization = await server.organization()
    const manager = await server.member(organization, ['manage-teams', 'access-secret-teams'])
    const { path } = organization
    const refused = await manager.post(
      `${path}/teams`,
      body({ name: 'twin', ...switches(true, 'manage-teams') }),
    )
    expect(pointers(refused)).toEqual(['/data/attributes/organization-access/manage-teams'])
    const plain = expectStatus(
      await manager.post(`${path}/teams`, body({ name: 'plain', ...switches(false, ...GRANTS) })),
      201,
    ).body.data
    expect((await manager.patch(`/api/v2/teams/${plain.id}`, body({ name: 'renamed' }))).status).toBe(200)
    const taken = await manager.patch(
      `/api/v2/teams/${manager.teamId}`,
      body(switches(false, 'access-secret-teams')),
    )
    expect(pointers(taken)).toEqual(['/data/attributes/organization-access/access-secret-teams'])
  })

  test('nor changes what else a team is when it is only the access they manage', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const keeper = await server.member(organization, ['manage-organization-access', 'manage-modules'])
    const url = `/api/v2/teams/${await server.team(organization)}`
    await owner.patch(url, body({ visibility: 'organization' }))
    const granted = await keeper.patch(url, body(switches(true, 'manage-modules')))
    expect(granted.body.data.attributes['organization-access']['manage-modules']).toBe(true)
    const refused = await keeper.patch(
      url,
      body({ name: 'mine', visibility: 'secret', ...switches(true, 'manage-providers') }),
    )
    expect(refused.status).toBe(422)
    expect(pointers(refused)).toEqual([
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-providers',
      '/data/attributes/visibility',
    ])
    expect((await keeper.delete(url)).status).toBe(404)
  })

  test('through a team that has more rights than they have', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const admin = await server.member(organization, TEAM_ADMIN)
    const mighty = await server.team(organization, ['manage-teams', 'manage-providers'])
    const equal = await server.team(organization, ['manage-membership'])
    const url = `/api/v2/teams/${mighty}`
    const ids = { data: [{ type: 'organization-memberships', id: admin.membershipId }] }
    const { id: tokenId } = (await owner.post(`${url}/authentication-token`)).body.data
    for (const answer of [
      await admin.post(`${url}/relationships/users`, users(admin.username)),
      await admin.post(`${url}/relationships/organization-memberships`, ids),
      await admin.post(`${url}/authentication-tokens`),
      await admin.post(`${url}/authentication-token`),
      await admin.get(`/api/v2/authentication-tokens/${tokenId}`),
      await admin.delete(`/api/v2/authentication-tokens/${tokenId}`),
      await admin.patch(url, body({ name: 'mine' })),
      await admin.delete(url),
    ]) {
      expect(answer.status).toBe(404)
    }
    const invited = await invite(admin, path, `friend-${admin.email}`, mighty)
    expect(pointers(invited)).toEqual(['/data/relationships/teams/data/0/id'])
    expect((await admin.get(url)).body.data.attributes.permissions).toMatchObject({
      'can-destroy': false,
      'can-update-membership': false,
      'can-update-api-token': false,
    })
    expect(
      (await admin.post(`/api/v2/teams/${equal}/relationships/users`, users(admin.username))).status,
    ).toBe(204)
    expect((await admin.post(`/api/v2/teams/${equal}/authentication-token`)).status).toBe(201)
    expectStatus(await invite(admin, path, `friend-${admin.email}`, equal), 201)
  })

  test('through the owners team, which is for owners only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const url = await ownersUrl(organization)
    const id = url.replace('/api/v2/teams/', '')
    await owner.patch(url, body({ visibility: 'organization' }))
    const all = await server.member(organization, GRANTS)
    const token = await server.organizationToken(organization)
    const team = await server.teamToken(organization, GRANTS)
    const ownersToken = (await owner.post(`${url}/authentication-token`)).body.data
    const ownerMembership = (await owner.get('/api/v2/organization-memberships')).body.data[0]
    for (const client of [all, token, team]) {
      for (const answer of [
        await client.patch(url, body({ 'allow-member-token-management': false })),
        await client.delete(url),
        await client.post(`${url}/relationships/users`, users(all.username)),
        await client.delete(`${url}/relationships/users`, users(owner.username)),
        await client.post(`${url}/authentication-tokens`),
        await client.post(`${url}/authentication-token`),
        await client.get(`${url}/authentication-token`),
        await client.delete(`${url}/authentication-token`),
        await client.get(`/api/v2/authentication-tokens/${ownersToken.id}`),
        await client.delete(`/api/v2/organization-memberships/${ownerMembership.id}`),
        await client.post(`${path}/authentication-token`),
      ]) {
        expect(answer.status).toBe(404)
      }
      const invited = await invite(client, path, `friend-${unique()}@example.com`, id)
      expect(pointers(invited)).toEqual(['/data/relationships/teams/data/0/id'])
      expect((await client.get(`${path}/team-tokens`)).text).not.toContain(ownersToken.id)
    }
    const ofOwners = server.as(ownersToken.attributes.token)
    expect((await ofOwners.post(`${url}/relationships/users`, users(all.username))).status).toBe(204)
    expect((await all.patch(path, { data: { type: 'organizations', attributes: {} } })).status).toBe(200)
  })

  test('as the organization token, which has no rights in the registry', async () => {
    const organization = await server.organization()
    const { path } = organization
    const token = await server.organizationToken(organization)
    for (const grant of GRANTS) {
      const opened = Object.values<{ grants?: readonly string[]; organizationToken?: true }>(PERMISSIONS)
        .filter(({ grants }) => grants?.includes(grant))
        .every(({ organizationToken }) => organizationToken === true)
      const name = `team-${unique()}`
      const answer = await token.post(`${path}/teams`, body({ name, ...switches(true, grant) }))
      expect([grant, answer.status]).toEqual([grant, opened ? 201 : 422])
    }
    const providers = await token.post(
      `${path}/teams`,
      body({ name: 'publishers', ...switches(true, 'manage-providers') }),
    )
    expect(providers.status).toBe(422)
    const publishers = await server.team(organization, ['manage-providers'])
    expect((await token.post(`/api/v2/teams/${publishers}/authentication-token`)).status).toBe(404)
  })

  test('as a team token, which cannot make another of its own', async () => {
    const organization = await server.organization()
    const id = await server.team(organization)
    const created = await organization.owner.post(`/api/v2/teams/${id}/authentication-token`)
    const team = server.as(created.body.data.attributes.token)
    expect((await team.get(`/api/v2/teams/${id}`)).status).toBe(200)
    expect((await team.post(`/api/v2/teams/${id}/authentication-tokens`)).status).toBe(404)
    expect((await team.get(`/api/v2/teams/${id}/authentication-tokens`)).status).toBe(404)
  })

  /** What each grant opens among people and teams; without any of them, nothing. */
  const OPENS: Record<string, string[]> = {
    'manage-teams': ['create a team', 'delete a team', 'put into a team', 'make a team token'],
    'manage-membership': ['invite', 'put into a team'],
    'manage-organization-access': [],
  }

  test('and each grant opens what it is for', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const someone = await server.member(organization)
    const attempts = async (client: Client) => {
      const open = (
        await owner.post(`${path}/teams`, body({ name: `team-${unique()}`, visibility: 'organization' }))
      ).body.data.id
      const results: Record<string, number> = {
        'create a team': (await client.post(`${path}/teams`, body({ name: `team-${unique()}` }))).status,
        'put into a team': (
          await client.post(`/api/v2/teams/${open}/relationships/users`, users(someone.username))
        ).status,
        'make a team token': (await client.post(`/api/v2/teams/${open}/authentication-token`)).status,
        invite: (
          await client.post(`${path}/organization-memberships`, {
            data: {
              type: 'organization-memberships',
              attributes: { email: `${unique()}@example.com` },
            },
          })
        ).status,
        'delete a team': (await client.delete(`/api/v2/teams/${open}`)).status,
        'change the organization': (
          await client.patch(path, { data: { type: 'organizations', attributes: {} } })
        ).status,
        'make the organization token': (await client.get(`${path}/authentication-token`)).status,
      }
      return Object.keys(results).filter((name) => results[name] !== 404)
    }
    expect(await attempts(someone)).toEqual([])
    for (const grant of GRANTS) {
      const opened = await attempts(await server.member(organization, [grant]))
      expect([grant, opened.sort()]).toEqual([grant, (OPENS[grant] ?? []).sort()])
    }
  })
})
