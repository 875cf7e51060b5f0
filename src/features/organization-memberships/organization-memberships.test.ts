import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  unique,
  violations,
} from '../../../test/harness.ts'

const TYPE = 'organization-memberships'
const body = (email: unknown, ...teamIds: string[]) => ({
  data: {
    type: TYPE,
    attributes: { email },
    ...(teamIds.length > 0 && {
      relationships: { teams: { data: teamIds.map((id) => ({ id, type: 'teams' })) } },
    }),
  },
})
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)
const newEmail = () => `${unique()}@Example.com`

onEachDialect('organization memberships', (server) => {
  const invite = async (client: Client, path: string, email: string, ...teamIds: string[]) => {
    const answer = await client.post(`${path}/${TYPE}`, body(email, ...teamIds))
    return expectStatus(answer, 201).body.data
  }
  const createUser = async (email: string) => {
    const attributes = { username: `user-${unique()}`, email }
    const created = await server.admin.post('/api/v2/admin/users', { data: { type: 'users', attributes } })
    const { id } = expectStatus(created, 201).body.data
    const token = await server.admin.post(`/api/v2/users/${id}/authentication-tokens`)
    return Object.assign(server.as(token.body.data.attributes.token), { id })
  }

  test('take a known address in at once', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const user = await server.user()
    const team = await server.team(organization)
    const answer = await owner.post(`${path}/${TYPE}`, body(user.email.toUpperCase(), team))
    const created = expectStatus(answer, 201).body.data
    expect(created).toEqual({
      id: expect.stringMatching(/^ou-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: TYPE,
      attributes: {
        status: 'active',
        email: user.email,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      relationships: {
        organization: { data: { id: name, type: 'organizations' } },
        user: { data: { id: user.id, type: 'users' } },
        teams: { data: [{ id: team, type: 'teams' }] },
      },
      links: { self: `/api/v2/organization-memberships/${created.id}` },
    })
    expect(answer.body.included).toMatchObject([{ id: user.id, attributes: { username: user.username } }])
    expect((await owner.get(`/api/v2/${TYPE}/${created.id}`)).body).toEqual({ data: created })
    expect((await user.get(path)).status).toBe(200)
    expect((await user.get(`/api/v2/teams/${team}`)).status).toBe(200)

    expect(await owner.delete(`/api/v2/${TYPE}/${created.id}`)).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(`/api/v2/${TYPE}/${created.id}`)).status).toBe(404)
    expect((await user.get(path)).status).toBe(404)
    expect((await owner.get(`/api/v2/teams/${team}`)).body.data.attributes['users-count']).toBe(0)
  })

  test('of unknown addresses wait for their user', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const elsewhere = await server.organization()
    const team = await server.team(organization)
    const email = newEmail()
    const invited = await invite(owner, path, email, team)
    const other = await invite(elsewhere.owner, elsewhere.path, email.toUpperCase())
    expect(invited.attributes).toMatchObject({ status: 'invited', email })
    expect(invited.relationships.user.data).toMatchObject({ type: 'users' })
    expect((await owner.get(`/api/v2/teams/${team}`)).body.data).toMatchObject({
      attributes: { 'users-count': 0 },
      relationships: { users: { data: [] }, 'organization-memberships': { data: [{ id: invited.id }] } },
    })

    const user = await createUser(email.toLowerCase())
    const accepted = (await owner.get(`/api/v2/${TYPE}/${invited.id}`)).body.data
    expect(accepted.attributes).toMatchObject({ status: 'active', email: email.toLowerCase() })
    expect(accepted.relationships).toMatchObject({
      user: { data: { id: user.id } },
      teams: { data: [{ id: team }] },
    })
    expect(ids(await user.get('/api/v2/organization-memberships')).sort()).toEqual(
      [invited.id, other.id].sort(),
    )
    expect((await user.get(`/api/v2/teams/${team}`)).status).toBe(200)
  })

  test('cannot be taken by a user who claims the invited address', async () => {
    const { owner, path } = await server.organization()
    const email = newEmail()
    await invite(owner, path, email)
    const thief = await server.user()
    const claim = { data: { type: 'users', attributes: { email } } }
    expect(pointers(await thief.patch('/api/v2/account/update', claim))).toEqual(['/data/attributes/email'])
    expect((await thief.get(path)).status).toBe(404)
    expect((await server.admin.patch(`/api/v2/admin/users/${thief.id}`, claim)).status).toBe(200)
    expect((await thief.get(path)).status).toBe(200)
  })

  test('come in pages, searched and filtered', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const member = await server.member(organization)
    const email = newEmail()
    const invited = await invite(owner, path, email)
    const list = (query: string) => owner.get(`${path}/${TYPE}?${query}`)
    const [founder] = ids(await list(''))
    expect(ids(await list(''))).toEqual([founder, member.membershipId, invited.id])
    const second = await list('page[size]=2&page[number]=2')
    expect(ids(second)).toEqual([invited.id])
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2 })
    expect(ids(await list('page[number]=9'))).toEqual([])
    expect(ids(await list('filter[status]=invited'))).toEqual([invited.id])
    expect(ids(await list('filter[status]=active'))).toEqual([founder, member.membershipId])
    expect((await list('filter[status]=gone')).body.errors[0].source.parameter).toBe('filter[status]')
    const emails = `${member.email.toUpperCase()},${email.toLowerCase()}`
    expect(ids(await list(`filter[email]=${emails}`))).toEqual([member.membershipId, invited.id])
    expect(ids(await list('filter[email]=nobody@example.com'))).toEqual([])
    expect(ids(await list(`q=${member.username.toUpperCase()}`))).toEqual([member.membershipId])
    expect(ids(await list(`q=${email.slice(0, 12)}`))).toEqual([invited.id])

    const own = await member.get('/api/v2/organization-memberships?include=user,teams')
    expect(ids(own)).toEqual([member.membershipId])
    expect(own.body.included.map(({ type }: { type: string }) => type)).toEqual(['users'])
    const withTeams = await list('include=user,teams')
    expect(withTeams.body.included.map(({ type }: { type: string }) => type).sort()).toEqual([
      'teams',
      'users',
      'users',
    ])
    expect((await list('include=organization')).status).toBe(400)
  })

  test('are refused with every violation and its pointer', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const elsewhere = await server.team(await server.organization())
    const member = await server.member(organization)
    const invited = await invite(owner, path, newEmail())
    expect(violations(await owner.post(`${path}/${TYPE}`, { data: {} }))).toEqual([
      { pointer: '/data/attributes/email', detail: "Email can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    for (const email of ['not-an-address', '', 7]) {
      expect(pointers(await owner.post(`${path}/${TYPE}`, body(email)))).toEqual(['/data/attributes/email'])
    }
    for (const email of [member.email.toUpperCase(), invited.attributes.email.toLowerCase()]) {
      const answer = await owner.post(`${path}/${TYPE}`, body(email, elsewhere, 'team-none'))
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/email', detail: 'Email has already been taken' },
        {
          pointer: '/data/relationships/teams/data/0/id',
          detail: 'Id is not of a team that you may put members into',
        },
        {
          pointer: '/data/relationships/teams/data/1/id',
          detail: 'Id is not of a team that you may put members into',
        },
      ])
    }
    const nobody = newEmail()
    expect((await owner.post(`${path}/${TYPE}`, body(nobody, elsewhere))).status).toBe(422)
    expect(ids(await owner.get(`${path}/${TYPE}?filter[email]=${nobody}`))).toEqual([])
  })

  test('race: of invitations of one address exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const user = await server.user()
    for (const email of [newEmail(), user.email]) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => owner.post(`${path}/${TYPE}`, body(email))),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
    }
  })

  test('do not exist for strangers, and are managed by those who may', async () => {
    const organization = await server.organization()
    const { path } = organization
    const member = await server.member(organization)
    const other = await server.member(organization)
    const url = `/api/v2/${TYPE}/${other.membershipId}`
    const elsewhere = await server.organization()
    for (const client of [await server.user(), elsewhere.owner, await server.organizationToken(elsewhere)]) {
      expect((await client.get(`${path}/${TYPE}`)).status).toBe(404)
      expect((await client.post(`${path}/${TYPE}`, body(newEmail()))).status).toBe(404)
      expect((await client.get(url)).status).toBe(404)
      expect((await client.delete(url)).status).toBe(404)
    }
    for (const client of [member, await server.teamToken(organization)]) {
      expect((await client.get(`${path}/${TYPE}`)).status).toBe(200)
      expect((await client.get(url)).status).toBe(200)
      expect((await client.post(`${path}/${TYPE}`, {})).status).toBe(404)
      expect((await client.delete(url)).status).toBe(404)
    }
    for (const client of [
      await server.member(organization, ['manage-membership']),
      await server.teamToken(organization, ['manage-membership']),
      await server.organizationToken(organization),
    ]) {
      const { id } = await invite(client, path, newEmail())
      expect((await client.delete(`/api/v2/${TYPE}/${id}`)).status).toBe(204)
    }
    expect((await (await server.organizationToken(organization)).get(`/api/v2/${TYPE}`)).status).toBe(404)
  })

  test('may be left by their users, except by the last owner', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const member = await server.member(organization)
    expect((await member.delete(`/api/v2/${TYPE}/${member.membershipId}`)).status).toBe(204)
    expect((await member.get(path)).status).toBe(404)

    const [own] = ids(await owner.get(`/api/v2/${TYPE}`))
    const refused = await owner.delete(`/api/v2/${TYPE}/${own}`)
    expect(refused.status).toBe(409)
    expect(refused.body.errors[0].detail).toBe('The owners team must keep at least one member.')
    const [team] = ids(await owner.get(`${path}/teams?filter[names]=owners`))
    const second = await server.user()
    await invite(owner, path, second.email, team)
    const manager = await server.member(organization, ['manage-membership'])
    expect((await manager.delete(`/api/v2/${TYPE}/${own}`)).status).toBe(404)
    expect((await owner.delete(`/api/v2/${TYPE}/${own}`)).status).toBe(204)
    expect((await owner.get(path)).status).toBe(404)
    expect((await second.get(path)).body.data.attributes.permissions['can-destroy']).toBe(true)
  })

  test('race: of two owners who leave one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, path } = await server.organization()
      const [own] = ids(await owner.get(`/api/v2/${TYPE}`))
      const [team] = ids(await owner.get(`${path}/teams?filter[names]=owners`))
      const second = await server.user()
      const { id } = await invite(owner, path, second.email, team)
      const answers = await Promise.all([
        owner.delete(`/api/v2/${TYPE}/${own}`),
        second.delete(`/api/v2/${TYPE}/${id}`),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
    }
  })

  test('keep a user who is the last owner from being deleted', async () => {
    const { owner, path } = await server.organization()
    const url = `/api/v2/admin/users/${owner.id}`
    expect((await server.admin.delete(url)).status).toBe(409)
    expect((await owner.get(path)).status).toBe(200)
    const [team] = ids(await owner.get(`${path}/teams?filter[names]=owners`))
    await invite(owner, path, (await server.user()).email, team)
    expect((await server.admin.delete(url)).status).toBe(204)
    expect((await owner.get(path)).status).toBe(401)
  })
})
