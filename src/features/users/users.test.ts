import { expect, test } from 'vitest'
import {
  type Answer,
  expectStatus,
  onEachDialect,
  pointers,
  unique,
  violations,
} from '../../../test/harness.ts'

const ACCOUNT = '/api/v2/account/details'
const UPDATE = '/api/v2/account/update'
const ADMIN = '/api/v2/admin/users'
const body = (attributes: object) => ({ data: { type: 'users', attributes } })
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)

onEachDialect('users', (server) => {
  const newUser = () => {
    const username = `user-${unique()}`
    return { username, email: `${username}@example.com` }
  }

  test('are made, listed and deleted by site administrators', async () => {
    const attributes = newUser()
    const created = expectStatus(await server.admin.post(ADMIN, body(attributes)), 201).body.data
    expect(created).toEqual({
      id: expect.stringMatching(/^user-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'users',
      attributes: {
        ...attributes,
        'is-service-account': false,
        'auth-method': 'tfc',
        'avatar-url': null,
        'v2-only': true,
        'is-site-admin': false,
        'is-sudo': false,
        'has-git-hub-app-token': false,
        'is-confirmed': true,
        'is-sso-login': false,
        'two-factor': { enabled: false, verified: false },
        'unconfirmed-email': null,
        'has-linked-hcp': false,
        permissions: {
          'can-create-organizations': true,
          'can-change-email': false,
          'can-change-username': true,
          'can-manage-user-tokens': true,
        },
      },
      relationships: {
        'authentication-tokens': { links: { related: `/api/v2/users/${created.id}/authentication-tokens` } },
        'authenticated-resource': { data: { id: created.id, type: 'users' } },
      },
      links: { self: `/api/v2/users/${created.id}` },
    })
    const total = (await server.admin.get(ADMIN)).body.meta.pagination['total-count']
    expect(ids(await server.admin.get(`${ADMIN}?page[size]=1&page[number]=${total}`))).toEqual([created.id])
    expect((await server.admin.get(`${ADMIN}?page[number]=999`)).body.data).toEqual([])
    expect(await server.admin.delete(`${ADMIN}/${created.id}`)).toMatchObject({ status: 204, text: '' })
    expect((await server.admin.delete(`${ADMIN}/${created.id}`)).status).toBe(404)
  })

  test('are administered by site administrators only', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const user = await server.user()
    for (const client of [owner, await server.organizationToken(organization)]) {
      expect((await client.get(ADMIN)).status).toBe(404)
      expect((await client.post(ADMIN, body(newUser()))).status).toBe(404)
      expect((await client.patch(`${ADMIN}/${user.id}`, body({ 'is-site-admin': true }))).status).toBe(404)
      expect((await client.delete(`${ADMIN}/${user.id}`)).status).toBe(404)
    }
    expect((await owner.patch(`${ADMIN}/${owner.id}`, body({ 'is-site-admin': true }))).status).toBe(404)
    expect((await server.nobody.get(ADMIN)).status).toBe(401)
  })

  test('become site administrators, who cannot do away with themselves', async () => {
    const user = await server.user()
    const url = `${ADMIN}/${user.id}`
    expect((await user.get(ADMIN)).status).toBe(404)
    expect((await server.admin.patch(url, body({ 'is-site-admin': true }))).status).toBe(200)
    expect((await user.get(ADMIN)).status).toBe(200)
    expect((await user.delete(url)).status).toBe(409)
    expect((await user.patch(url, body({ 'is-site-admin': false }))).status).toBe(409)
    expect((await server.admin.patch(url, body({ 'is-site-admin': false }))).status).toBe(200)
    expect((await user.get(ADMIN)).status).toBe(404)
    expect((await server.admin.patch(`${ADMIN}/user-none`, {})).status).toBe(404)
  })

  test('see and rename themselves', async () => {
    const user = await server.user()
    const shown = (await user.get(ACCOUNT)).body.data
    expect(shown).toMatchObject({ id: user.id, attributes: { username: user.username, email: user.email } })
    const username = `renamed-${unique()}`
    const changed = await user.patch(UPDATE, body({ username, email: user.email, 'is-site-admin': true }))
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toEqual({
      ...shown.attributes,
      username,
    })
    expect((await user.get(ACCOUNT)).body.data.attributes.username).toBe(username)
    const moved = await user.patch(UPDATE, body({ email: `new-${user.email}` }))
    expect(violations(moved)).toEqual([
      { pointer: '/data/attributes/email', detail: 'Email can only be changed by a site administrator' },
    ])
  })

  test('are not what tokens of teams and organizations can rename', async () => {
    const organization = await server.organization()
    for (const client of [
      await server.teamToken(organization),
      await server.organizationToken(organization),
    ]) {
      expect((await client.get(ACCOUNT)).body.data.attributes).toMatchObject({ 'is-service-account': true })
      expect((await client.patch(UPDATE, body({ username: 'robot' }))).status).toBe(404)
    }
    expect((await server.nobody.get(ACCOUNT)).status).toBe(401)
  })

  test('are refused with every violation and its pointer', async () => {
    const other = await server.user()
    const user = await server.user()
    expect(violations(await server.admin.post(ADMIN, { data: {} }))).toEqual([
      { pointer: '/data/attributes/email', detail: "Email can't be blank" },
      { pointer: '/data/attributes/username', detail: "Username can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    const wrong = await server.admin.post(
      ADMIN,
      body({ username: 'a b', email: 'none', 'is-site-admin': 'yes' }),
    )
    expect(pointers(wrong)).toEqual([
      '/data/attributes/email',
      '/data/attributes/is-site-admin',
      '/data/attributes/username',
    ])
    const taken = { username: other.username.toUpperCase(), email: other.email.toUpperCase() }
    for (const answer of [
      await server.admin.post(ADMIN, body(taken)),
      await server.admin.patch(`${ADMIN}/${user.id}`, body(taken)),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/email', detail: 'Email has already been taken' },
        { pointer: '/data/attributes/username', detail: 'Username has already been taken' },
      ])
    }
    expect(pointers(await user.patch(UPDATE, body({ username: taken.username })))).toEqual([
      '/data/attributes/username',
    ])
    expect((await user.patch(UPDATE, body({ username: user.username.toUpperCase() }))).status).toBe(200)
  })

  test('race: of creates of one name exactly one wins', async () => {
    const attributes = newUser()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => server.admin.post(ADMIN, body(attributes))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
  })

  test('are seen by those they share an organization with', async () => {
    const organization = await server.organization()
    const member = await server.member(organization)
    const other = await server.member(organization)
    const stranger = await server.organization()
    const url = `/api/v2/users/${member.id}`
    for (const client of [
      member,
      other,
      organization.owner,
      server.admin,
      await server.teamToken(organization),
      await server.organizationToken(organization),
    ]) {
      const answer = await client.get(url)
      expect(answer.status).toBe(200)
      expect(answer.body.data.attributes.username).toBe(member.username)
      expect(answer.text).not.toContain(member.email)
    }
    for (const client of [
      await server.user(),
      stranger.owner,
      await server.teamToken(stranger),
      await server.organizationToken(stranger),
    ]) {
      expect((await client.get(url)).status).toBe(404)
    }
    expect((await member.get('/api/v2/users/user-none')).status).toBe(404)
    await organization.owner.delete(`/api/v2/organization-memberships/${other.membershipId}`)
    expect((await other.get(url)).status).toBe(404)
  })
})
