import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import { loginSteps } from '../../../test/login.ts'
import { withDatabase } from '../../../test/visitor.ts'
import { sweepCodes } from './jobs.ts'

const PAST = '2020-01-01T00:00:00.000Z'
const body = (attributes: object) => ({ data: { type: 'users', attributes } })
const hash = (secret: string) => createHash('sha256').update(secret).digest('hex')

onEachDialect('a code of terraform login', (server) => {
  const { approved, exchange } = loginSteps(server)
  const worksFor = async (token: string) => (await server.as(token).get('/api/v2/account/details')).status
  const refused = (error: string) => ({ status: 400, body: { error, error_description: expect.any(String) } })
  const move = (code: string, expiresAt: string) =>
    withDatabase(server, (db) => {
      // The program never changes it, so the type does not have it.
      const change = { expiresAt } as object
      return db.updateTable('authorizationCodes').set(change).where('hash', '=', hash(code)).execute()
    })

  test('gives one token for a code; a second use revokes it', async () => {
    const { user, code, fields } = await approved()
    const { access_token: token } = (await exchange(fields)).body
    expect(await worksFor(token)).toBe(200)
    expect(await exchange(fields)).toMatchObject(refused('invalid_grant'))
    expect(await worksFor(token)).toBe(401)
    expect(await worksFor(user.token as string)).toBe(200)
    expect(await exchange(fields)).toMatchObject(refused('invalid_grant'))
    expect(server.logLines.join('')).not.toContain(code)
  })

  test('race: a code that is used twice at once leaves no token', async () => {
    const { user, fields } = await approved()
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(fields)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    const { access_token: token } = answers.find(({ status }) => status === 200)?.body ?? {}
    expect(await worksFor(token)).toBe(401)
    const { data } = (await user.get(`/api/v2/users/${user.id}/authentication-tokens`)).body
    expect(data).toHaveLength(1)
  })

  test('gives no token for a code that is not for who presents it, and none later', async () => {
    const wrong: Record<string, string>[] = [
      { code_verifier: randomBytes(32).toString('base64url') },
      { code_verifier: 'x' },
      { redirect_uri: 'http://localhost:10004/login' },
      { redirect_uri: 'http://127.0.0.1:10003/login' },
    ]
    for (const changes of wrong) {
      const { user, fields } = await approved()
      expect(await exchange({ ...fields, ...changes })).toMatchObject(refused('invalid_grant'))
      expect(await exchange(fields)).toMatchObject(refused('invalid_grant'))
      const { data } = (await user.get(`/api/v2/users/${user.id}/authentication-tokens`)).body
      expect(data).toHaveLength(1)
    }
  })

  test('gives no token for a code that is older than a minute', async () => {
    const { code, fields } = await approved()
    const { expiresAt } = await withDatabase(server, (db) => {
      const codes = db.selectFrom('authorizationCodes').selectAll().where('hash', '=', hash(code))
      return codes.executeTakeFirstOrThrow()
    })
    const seconds = (Date.parse(expiresAt) - Date.now()) / 1000
    expect(seconds).toBeGreaterThan(50)
    expect(seconds).toBeLessThanOrEqual(60)
    await move(code, PAST)
    expect(await exchange(fields)).toMatchObject(refused('invalid_grant'))
  })

  test('gives no token for a code that was approved before the password changed', async () => {
    const { user, fields } = await approved()
    const password = body({ password: 'changed in the meantime' })
    expect((await server.admin.patch(`/api/v2/admin/users/${user.id}`, password)).status).toBe(200)
    expect(await exchange(fields)).toMatchObject(refused('invalid_grant'))
  })

  test('refuses requests for tokens that are not whole, and lets the code live', async () => {
    const { fields } = await approved()
    const without = (name: string) =>
      Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))
    for (const name of ['grant_type', 'code', 'code_verifier', 'redirect_uri']) {
      expect(await exchange(without(name))).toMatchObject(refused('invalid_request'))
    }
    expect(await exchange(without('client_id'))).toMatchObject(refused('invalid_client'))
    expect(await exchange({ ...fields, client_id: 'another' })).toMatchObject(refused('invalid_client'))
    expect(await exchange({ ...fields, grant_type: 'password' })).toMatchObject(
      refused('unsupported_grant_type'),
    )
    expect(await exchange({ ...fields, code: 'unknown' })).toMatchObject(refused('invalid_grant'))
    expect((await server.nobody.post('/oauth/token', JSON.stringify(fields))).status).toBe(415)
    expect((await exchange(fields)).status).toBe(200)
  })

  test('forgets codes a day after they expired', async () => {
    const { code } = await approved()
    const count = () =>
      withDatabase(server, async (db) => {
        const codes = db.selectFrom('authorizationCodes').select('hash').where('hash', '=', hash(code))
        return (await codes.execute()).length
      })
    await runLater(server, sweepCodes, 0.9)
    expect(await count()).toBe(1)
    await runLater(server, sweepCodes, 1.1)
    expect(await count()).toBe(0)
  })
})
