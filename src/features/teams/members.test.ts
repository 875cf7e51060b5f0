import { expect, test } from 'vitest'
import { type Answer, type Client, expectStatus, onEachDialect, pointers } from '../../../test/harness.ts'

const body = (attributes: object) => ({ data: { type: 'teams', attributes } })
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) })
const memberships = (...ids: string[]) => ({
  data: ids.map((id) => ({ type: 'organization-memberships', id })),
})
const names = (answer: Answer) =>
  answer.body.data.map((item: { attributes: { name: string } }) => item.attributes.name)

onEachDialect('teams', (server) => {
  const create = async (client: Client, path: string, attributes: object) => {
    return expectStatus(await client.post(`${path}/teams`, body(attributes)), 201).body.data
  }

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
    for (const _ of ['there', 'no longer there']) {
      expect((await owner.delete(`${url}/relationships/users`, users(one.username))).status).toBe(204)
      expect(await inTeam()).toEqual([two.id])
    }

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

  test('race: of members put into a team while it is deleted the request fails cleanly', async () => {
    for (let round = 0; round < 5; round++) {
      const organization = await server.organization()
      const { owner } = organization
      const member = await server.member(organization)
      const url = `/api/v2/teams/${await server.team(organization)}`
      const [added, made, deleted] = await Promise.all([
        owner.post(`${url}/relationships/users`, users(member.username)),
        owner.post(`${url}/authentication-token`),
        owner.delete(url),
      ])
      expect(deleted.status).toBe(204)
      expect([204, 404]).toContain(added.status)
      expect([201, 404]).toContain(made.status)
    }
  })
})
