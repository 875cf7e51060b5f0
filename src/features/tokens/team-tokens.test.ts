import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  violations,
} from '../../../test/harness.ts'

const TYPE = 'authentication-tokens'
const ACCOUNT = '/api/v2/account/details'
const body = (attributes: object) => ({ data: { type: TYPE, attributes } })
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)

onEachDialect('tokens', (server) => {
  const make = async (client: Client, url: string, attributes: object = {}) => {
    return expectStatus(await client.post(url, body(attributes)), 201).body.data
  }
  const worksFor = async (secret: string) => (await server.as(secret).get(ACCOUNT)).status

  test('of a team are many, each with its own description', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const team = await server.team(organization)
    const url = `/api/v2/teams/${team}/authentication-tokens`
    const created = await make(owner, url, { description: 'ci' })
    expect(created).toMatchObject({
      attributes: { description: 'ci' },
      relationships: { team: { data: { id: team, type: 'teams' } } },
    })
    const bare = await make(owner, url)
    expect(violations(await owner.post(url, body({ description: 'ci' })))).toEqual([
      { pointer: '/data/attributes/description', detail: 'Description has already been taken' },
    ])
    expect(pointers(await owner.post(url))).toEqual(['/data/attributes/description'])
    expect(ids(await owner.get(url))).toEqual([created.id, bare.id])
    expect(ids(await owner.get(`${url}?page[size]=1&page[number]=2`))).toEqual([bare.id])
    const other = await server.team(organization)
    await make(owner, `/api/v2/teams/${other}/authentication-tokens`, { description: 'ci' })

    const shown = await server.as(created.attributes.token).get(ACCOUNT)
    expect(shown.body.data).toMatchObject({
      type: 'users',
      attributes: { 'is-service-account': true, username: `api-team-${team}` },
      relationships: { 'authenticated-resource': { data: { id: team, type: 'teams' } } },
    })
    expect((await owner.delete(`/api/v2/authentication-tokens/${created.id}`)).status).toBe(204)
    expect(await worksFor(created.attributes.token)).toBe(401)
    expect(await worksFor(bare.attributes.token)).toBe(200)
  })

  test('of a team that no person made name nobody', async () => {
    const organization = await server.organization()
    const token = await server.organizationToken(organization)
    const url = `/api/v2/teams/${await server.team(organization)}/authentication-tokens`
    const made = await make(token, url, { description: 'made by a token' })
    expect(made.relationships['created-by']).toEqual({ data: null })
    const { data } = (await organization.owner.get(url)).body
    expect(data[0].relationships['created-by']).toEqual({ data: null })
  })

  test('race: of team tokens with one description exactly one is made', async () => {
    const organization = await server.organization()
    const url = `/api/v2/teams/${await server.team(organization)}/authentication-tokens`
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => organization.owner.post(url, body({ description: 'race' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
  })

  test('of a team are for its members unless it keeps them to managers', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const member = await server.member(organization, ['manage-modules'])
    const outsider = await server.member(organization)
    const team = `/api/v2/teams/${member.teamId}`
    await owner.patch(team, { data: { type: 'teams', attributes: { visibility: 'organization' } } })
    const { id } = await make(member, `${team}/authentication-tokens`, { description: 'mine' })
    const attempts = async (client: Client) => [
      (await client.post(`${team}/authentication-tokens`, body({ description: 'mine' }))).status,
      (await client.get(`${team}/authentication-tokens`)).status,
      (await client.post(`${team}/authentication-token`)).status,
      (await client.get(`${team}/authentication-token`)).status,
      (await client.get(`/api/v2/authentication-tokens/${id}`)).status,
    ]
    expect(await attempts(outsider)).toEqual([404, 404, 404, 404, 404])
    expect(await attempts(member)).toEqual([422, 200, 201, 200, 200])
    const keep = { 'allow-member-token-management': false }
    await owner.patch(team, { data: { type: 'teams', attributes: keep } })
    expect(await attempts(member)).toEqual([404, 404, 404, 404, 404])
    expect(await attempts(owner)).toEqual([422, 200, 201, 200, 200])
    expect((await outsider.delete(`/api/v2/authentication-tokens/${id}`)).status).toBe(404)
  })

  test('of all teams are listed in pages, searched and sorted', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const url = `${path}/team-tokens`
    const named = async (name: string, attributes: object) => {
      const created = await owner.post(`${path}/teams`, { data: { type: 'teams', attributes: { name } } })
      const { id } = expectStatus(created, 201).body.data
      return (await make(owner, `/api/v2/teams/${id}/authentication-tokens`, attributes)).id
    }
    const beta = await named('beta', { 'expired-at': '2998-01-01T00:00:00Z' })
    const alpha = await named('alpha', { 'expired-at': '2999-01-01T00:00:00Z' })
    const gamma = await named('gamma', {})
    expect(ids(await owner.get(url))).toEqual([beta, alpha, gamma])
    expect(ids(await owner.get(`${url}?sort=team-name`))).toEqual([alpha, beta, gamma])
    expect(ids(await owner.get(`${url}?sort=-team-name`))).toEqual([gamma, beta, alpha])
    expect(ids(await owner.get(`${url}?sort=expired-at`))).toEqual([beta, alpha, gamma])
    expect(ids(await owner.get(`${url}?sort=-expired-at`))).toEqual([alpha, beta, gamma])
    expect(ids(await owner.get(`${url}?sort=created-by`))).toHaveLength(3)
    expect(ids(await owner.get(`${url}?sort=last-used-at`))).toHaveLength(3)
    expect(ids(await owner.get(`${url}?q=ALPH`))).toEqual([alpha])
    const second = await owner.get(`${url}?page[size]=2&page[number]=2`)
    expect(ids(second)).toEqual([gamma])
    expect(second.body.meta.pagination['total-count']).toBe(3)
    const bad = await owner.get(`${url}?sort=hash`)
    expect(bad.status).toBe(400)
    expect(bad.body.errors[0].source.parameter).toBe('sort')

    expect((await (await server.user()).get(url)).status).toBe(404)
    expect(ids(await (await server.member(organization)).get(url))).toEqual([])
    const manager = await server.member(organization, ['manage-teams', 'access-secret-teams'])
    expect(ids(await manager.get(url))).toHaveLength(3)
  })
})
