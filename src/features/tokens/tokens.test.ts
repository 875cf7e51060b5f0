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
const body = (attributes: object, type = TYPE) => ({ data: { type, attributes } })
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)
const inMilliseconds = (delay: number) => new Date(Date.now() + delay).toISOString()

onEachDialect('tokens', (server) => {
  const make = async (client: Client, url: string, attributes: object = {}) => {
    return expectStatus(await client.post(url, body(attributes)), 201).body.data
  }
  const worksFor = async (secret: string) => (await server.as(secret).get(ACCOUNT)).status

  test('of users are made, listed, shown and revoked', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const created = await make(user, url, { description: 'laptop' })
    expect(created).toEqual({
      id: expect.stringMatching(/^at-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: TYPE,
      attributes: {
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'last-used-at': null,
        description: 'laptop',
        token: expect.stringMatching(/^plinth_[1-9A-HJ-NP-Za-km-z]{44}$/),
        'expired-at': null,
      },
      relationships: { 'created-by': { data: { id: user.id, type: 'users' } } },
      links: { self: `/api/v2/authentication-tokens/${created.id}` },
    })
    const { token } = created.attributes
    const hidden = { ...created, attributes: { ...created.attributes, token: null } }
    expect((await user.get(`/api/v2/authentication-tokens/${created.id}`)).body.data).toEqual(hidden)
    expect((await user.get(url)).body.data[1]).toEqual(hidden)
    expect((await user.get(url)).text).not.toContain(token)

    expect(await worksFor(token)).toBe(200)
    await expect
      .poll(async () => (await user.get(`/api/v2/authentication-tokens/${created.id}`)).body.data.attributes)
      .toMatchObject({ 'last-used-at': expect.stringMatching(/Z$/) })
    const gone = await user.delete(`/api/v2/authentication-tokens/${created.id}`)
    expect(gone).toMatchObject({ status: 204, text: '' })
    expect(await worksFor(token)).toBe(401)
    expect((await user.delete(`/api/v2/authentication-tokens/${created.id}`)).status).toBe(404)
    expect(server.logLines.join('')).not.toContain(token)
  })

  test('of a user come in pages', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const made = [(await make(user, url)).id, (await make(user, url)).id]
    const second = await user.get(`${url}?page[size]=2&page[number]=2`)
    expect(ids(second)).toEqual([made[1]])
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': null })
    expect((await user.get(`${url}?page[number]=7`)).body.data).toEqual([])
  })

  test('of a user are for the user and for site administrators', async () => {
    const organization = await server.organization()
    const user = await server.member(organization)
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const { id } = await make(server.admin, url)
    for (const other of [
      organization.owner,
      await server.organizationToken(organization),
      await server.teamToken(organization),
    ]) {
      expect((await other.post(url, body({}))).status).toBe(404)
      expect((await other.get(url)).status).toBe(404)
      expect((await other.get(`/api/v2/authentication-tokens/${id}`)).status).toBe(404)
      expect((await other.delete(`/api/v2/authentication-tokens/${id}`)).status).toBe(404)
    }
    expect((await server.nobody.get(url)).status).toBe(401)
    expect((await server.admin.get('/api/v2/users/user-none/authentication-tokens')).status).toBe(404)
    expect((await server.admin.delete(`/api/v2/authentication-tokens/${id}`)).status).toBe(204)
  })

  test('are made from whatever clients send', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    for (const sent of [
      undefined,
      '',
      {},
      { data: {} },
      { data: { type: TYPE } },
      { data: { type: '', attributes: {} } },
      { data: { type: 'authentication-token', attributes: { description: null, 'expired-at': null } } },
    ]) {
      const { attributes } = expectStatus(await user.post(url, sent), 201).body.data
      expect(attributes).toMatchObject({ description: null, 'expired-at': null })
    }
    expect(pointers(await user.post(url, body({}, 'tokens')))).toEqual(['/data/type'])
  })

  test('stop working when they expire', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const expiry = inMilliseconds(1500)
    const { attributes } = await make(user, url, { 'expired-at': expiry })
    expect(attributes['expired-at']).toBe(expiry)
    expect(await worksFor(attributes.token)).toBe(200)
    await expect.poll(() => worksFor(attributes.token), { timeout: 5000 }).toBe(401)
    const offset = await make(user, url, { 'expired-at': '2999-01-01T02:00:00+02:00' })
    expect(offset.attributes['expired-at']).toBe('2999-01-01T00:00:00.000Z')
  })

  test('expire in the future, or the request is refused', async () => {
    const user = await server.user()
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    for (const [expiry, detail] of [
      [inMilliseconds(-1000), 'Expired at must be in the future'],
      ['2999-13-01T00:00:00Z', 'Expired at is not a date'],
      ['2999-01-01', 'Expired at is invalid: an ISO 8601 date and time with its offset'],
      ['soon', 'Expired at is invalid: an ISO 8601 date and time with its offset'],
      [7, 'Expired at must be a string or null'],
    ]) {
      const answer = await user.post(url, body({ 'expired-at': expiry }))
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([{ pointer: '/data/attributes/expired-at', detail }])
    }
    const both = await user.post(url, body({ description: 'x'.repeat(256), 'expired-at': 7 }))
    expect(pointers(both)).toEqual(['/data/attributes/description', '/data/attributes/expired-at'])
    expect((await user.get(url)).body.data).toHaveLength(1)
  })

  test('of teams and organizations at the address for one are replaced', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const team = await server.team(organization)
    const described = await make(owner, `/api/v2/teams/${team}/authentication-tokens`, { description: 'ci' })
    for (const url of [`/api/v2/teams/${team}/authentication-token`, `${path}/authentication-token`]) {
      expect((await owner.get(url)).status).toBe(404)
      expect((await owner.delete(url)).status).toBe(404)
      const first = await make(owner, url, { 'expired-at': '2999-01-01T00:00:00Z' })
      expect((await owner.get(url)).body.data).toEqual({
        ...first,
        attributes: { ...first.attributes, token: null },
      })
      expect(await worksFor(first.attributes.token)).toBe(200)
      const second = expectStatus(await owner.post(url), 201).body.data
      expect(second.id).not.toBe(first.id)
      expect(second.attributes).toMatchObject({ description: null, 'expired-at': null })
      expect(await worksFor(first.attributes.token)).toBe(401)
      expect(await worksFor(second.attributes.token)).toBe(200)
      expect((await owner.post(url, body({ 'expired-at': inMilliseconds(-1) }))).status).toBe(422)
      expect(await worksFor(second.attributes.token)).toBe(200)
      expect((await owner.delete(url)).status).toBe(204)
      expect(await worksFor(second.attributes.token)).toBe(401)
    }
    expect(await worksFor(described.attributes.token)).toBe(200)
  })

  test('race: of replacements one token is left', async () => {
    const { owner, path } = await server.organization()
    const url = `${path}/authentication-token`
    const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post(url)))
    const made = answers.filter(({ status }) => status === 201)
    expect(answers.every(({ status }) => [201, 404, 409].includes(status))).toBe(true)
    const working = await Promise.all(made.map((answer) => worksFor(answer.body.data.attributes.token)))
    expect(working.filter((status) => status === 200)).toHaveLength(1)
  })

  test('of an organization are for its owners', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const url = `${path}/authentication-token`
    const token = await server.organizationToken(organization)
    const { id } = (await owner.get(url)).body.data
    for (const client of [
      token,
      await server.user(),
      server.admin,
      await server.member(organization, ['manage-teams', 'manage-membership']),
      await server.teamToken(organization, ['manage-teams']),
    ]) {
      expect((await client.get(url)).status).toBe(404)
      expect((await client.post(url)).status).toBe(404)
      expect((await client.delete(url)).status).toBe(404)
      expect((await client.get(`/api/v2/authentication-tokens/${id}`)).status).toBe(404)
      expect((await client.delete(`/api/v2/authentication-tokens/${id}`)).status).toBe(404)
    }
    expect((await token.get(ACCOUNT)).body.data).toMatchObject({
      attributes: { 'is-service-account': true, username: `api-organization-${name}` },
      relationships: { 'authenticated-resource': { data: { id: name, type: 'organizations' } } },
    })
    expect((await token.get(path)).status).toBe(200)
  })

  test('of other kinds do not touch the one of the organization', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const token = await server.organizationToken(organization)
    const url = `${path}/authentication-token?token=audit-trails`
    for (const answer of [await owner.get(url), await owner.post(url), await owner.delete(url)]) {
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0].source.parameter).toBe('token')
    }
    expect((await token.get(ACCOUNT)).status).toBe(200)
    expect((await (await server.user()).post(url)).status).toBe(404)
  })

  test('die with their owner', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const team = await server.team(organization)
    const ofTeam = await make(owner, `/api/v2/teams/${team}/authentication-token`)
    const ofOrganization = await make(owner, `${path}/authentication-token`)
    const user = await server.user()
    expect((await owner.delete(`/api/v2/teams/${team}`)).status).toBe(204)
    expect(await worksFor(ofTeam.attributes.token)).toBe(401)
    expect((await owner.delete(path)).status).toBe(204)
    expect(await worksFor(ofOrganization.attributes.token)).toBe(401)
    expect((await server.admin.delete(`/api/v2/admin/users/${user.id}`)).status).toBe(204)
    expect((await user.get(ACCOUNT)).status).toBe(401)
  })
})
