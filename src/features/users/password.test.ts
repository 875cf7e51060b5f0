import { expect, test } from 'vitest'
import { onEachDialect, violations } from '../../../test/harness.ts'
import { userWithPassword, Visitor, withDatabase } from '../../../test/visitor.ts'

const URL = '/api/v2/account/password'
const body = (attributes: object) => ({ data: { type: 'users', attributes } })
const change = (current: string | null | undefined, password: string, repeated = password) =>
  body({ current_password: current, password, password_confirmation: repeated })
const at = (attribute: string, detail: string) => ({ pointer: `/data/attributes/${attribute}`, detail })

onEachDialect('passwords', (server) => {
  const canSignIn = async (login: string, password: string) =>
    (await new Visitor(server).signIn(login, password)).status === 303

  test('are given by site administrators, and never shown', async () => {
    const password = 'given by an administrator'
    const attributes = {
      username: `user-${crypto.randomUUID()}`,
      email: `${crypto.randomUUID()}@example.com`,
    }
    const created = await server.admin.post('/api/v2/admin/users', body({ ...attributes, password }))
    expect(created.status).toBe(201)
    expect(created.body.data.attributes).not.toHaveProperty('password')
    expect(await canSignIn(attributes.username, password)).toBe(true)
    const changed = await server.admin.patch(
      `/api/v2/admin/users/${created.body.data.id}`,
      body({ password: 'given another time' }),
    )
    expect(changed.status).toBe(200)
    expect(changed.text).not.toContain('given')
    expect(await canSignIn(attributes.username, password)).toBe(false)
    expect(await canSignIn(attributes.username, 'given another time')).toBe(true)
    expect(server.logLines.join('')).not.toContain('given')
  })

  test('are changed by their owner, who knows the one before', async () => {
    const user = await userWithPassword(server)
    const changed = await user.patch(URL, change(user.password, 'a new long password'))
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual((await user.get('/api/v2/account/details')).body)
    expect(await canSignIn(user.username, user.password)).toBe(false)
    expect(await canSignIn(user.username, 'a new long password')).toBe(true)
    expect(server.logLines.join('')).not.toContain('a new long password')
  })

  test('are set without another one the first time only', async () => {
    const user = await server.user()
    expect((await user.patch(URL, change(undefined, 'the very first one'))).status).toBe(200)
    expect(await canSignIn(user.email, 'the very first one')).toBe(true)
    for (const current of [undefined, null, '']) {
      const answer = await user.patch(URL, change(current, 'a second without proof'))
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([at('current_password', "Current password can't be blank")])
    }
    const answer = await user.patch(URL, change('the very wrong one', 'a second without proof'))
    expect(violations(answer)).toEqual([at('current_password', 'Current password is wrong')])
    expect(await canSignIn(user.email, 'the very first one')).toBe(true)
  })

  test('are the same however a keyboard composes their characters', async () => {
    const user = await server.user()
    expect((await user.patch(URL, change(undefined, 'Zu\u0308rich ist teuer'))).status).toBe(200)
    expect(await canSignIn(user.email, 'Z\u00fcrich ist teuer')).toBe(true)
  })

  test('are refused with every violation and its pointer', async () => {
    const user = await userWithPassword(server)
    const short = at('password', 'Password is too short (minimum is 12 characters)')
    const long = at('password', 'Password is too long (maximum is 256 characters)')
    expect(violations(await user.patch(URL, change('', 'x'.repeat(11), 'y')))).toEqual([
      at('current_password', "Current password can't be blank"),
      short,
      at('password_confirmation', "Password confirmation doesn't match Password"),
    ])
    expect(violations(await user.patch(URL, change(user.password, 'x'.repeat(257))))).toEqual([long])
    expect(violations(await user.patch(URL, change(user.password, '😀'.repeat(11))))).toEqual([short])
    expect(violations(await user.patch(URL, body({})))).toEqual([
      at('password', "Password can't be blank"),
      at('password_confirmation', "Password confirmation can't be blank"),
    ])
    const admin = await server.admin.post(
      '/api/v2/admin/users',
      body({ username: user.username, email: user.email, password: 'short' }),
    )
    expect(violations(admin)).toEqual([
      at('email', 'Email has already been taken'),
      short,
      at('username', 'Username has already been taken'),
    ])
    const patched = await server.admin.patch(`/api/v2/admin/users/${user.id}`, body({ password: '' }))
    expect(violations(patched)).toEqual([short])
    expect(await canSignIn(user.username, user.password)).toBe(true)
    for (const length of [12, 256]) {
      const password = 'x'.repeat(length)
      expect((await server.admin.patch(`/api/v2/admin/users/${user.id}`, body({ password }))).status).toBe(
        200,
      )
      expect(await canSignIn(user.username, password)).toBe(true)
    }
  })

  test('are for people: tokens of teams and organizations have none', async () => {
    const organization = await server.organization()
    const given = change(undefined, 'never to be set')
    for (const client of [
      await server.teamToken(organization),
      await server.organizationToken(organization),
    ]) {
      expect((await client.patch(URL, given)).status).toBe(404)
    }
    expect((await server.nobody.patch(URL, given)).status).toBe(401)
    const user = await server.user()
    for (const client of [organization.owner, user]) {
      const url = `/api/v2/admin/users/${user.id}`
      expect((await client.patch(url, body({ password: 'never to be set' }))).status).toBe(404)
    }
    expect(await canSignIn(user.username, 'never to be set')).toBe(false)
  })

  test('are not found out with a stolen token', async () => {
    const user = await userWithPassword(server)
    const statuses: number[] = []
    for (let guess = 0; guess < 6; guess++) {
      statuses.push((await user.patch(URL, change(`wrong ${guess}`, 'a new long password'))).status)
    }
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429])
    const blocked = await user.patch(URL, change(user.password, 'a new long password'))
    expect(blocked.status).toBe(429)
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await canSignIn(user.username, user.password)).toBe(true)
  })

  test('are stored as Argon2id only', async () => {
    const user = await userWithPassword(server)
    const row = await withDatabase(server, (db) =>
      db.selectFrom('passwords').selectAll().where('userId', '=', user.id).executeTakeFirstOrThrow(),
    )
    expect(row.hash).toMatch(/^\$argon2id\$v=19\$m=32768,t=3,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  })

  test('race: of changes at once one wins', async () => {
    const known = await userWithPassword(server)
    for (const [user, current] of [[await server.user()], [known, known.password]] as const) {
      const passwords = Array.from({ length: 4 }, (_, index) => `a new long password ${index}`)
      const answers = await Promise.all(
        passwords.map((password) => user.patch(URL, change(current, password))),
      )
      const won = answers.flatMap(({ status }, index) => (status === 200 ? [passwords[index] as string] : []))
      expect(won).toHaveLength(1)
      expect(await canSignIn(user.username, won[0] as string)).toBe(true)
    }
  })
})
