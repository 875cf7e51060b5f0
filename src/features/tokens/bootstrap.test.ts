import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createPostgresDatabase, DIALECTS, onEachDialect, type TestServer } from '../../../test/harness.ts'
import { readConfig } from '../../config/config.ts'
import { readSecrets } from '../../config/secrets.ts'
import { assemble } from '../../services.ts'
import { ensureBootstrap } from './bootstrap.ts'

const ACCOUNT = '/api/v2/account/details'

const fileOf = (server: TestServer) => join(server.dataDir, 'admin-token')
const statusFor = async (server: TestServer, token: string) => (await server.as(token).get(ACCOUNT)).status

onEachDialect(
  "the first site administrator's token",
  (server) => {
    test('is made once, for its owner only, and nothing prints it', async () => {
      expect(statSync(fileOf(server)).mode & 0o777).toBe(0o600)
      const token = readFileSync(fileOf(server), 'utf8').trim()
      expect(token).toMatch(/^plinth_[1-9A-HJ-NP-Za-km-z]{44}$/)
      const { attributes } = (await server.as(token).get(ACCOUNT)).body.data
      expect(attributes).toMatchObject({ username: 'admin', 'is-site-admin': true })

      await server.restart()
      expect(readFileSync(fileOf(server), 'utf8').trim()).toBe(token)
      expect(await statusFor(server, token)).toBe(200)

      rmSync(fileOf(server))
      await server.restart()
      expect(existsSync(fileOf(server))).toBe(false)
      expect(await statusFor(server, token)).toBe(200)
      expect(server.logLines.join('')).not.toContain(token)

      const changed = await server.as(token).patch('/api/v2/account/update', {
        data: { type: 'users', attributes: { username: 'root', email: 'root@example.com' } },
      })
      expect(changed.status).toBe(200)
      await server.restart()
      expect((await server.as(token).get(ACCOUNT)).body.data.attributes.username).toBe('root')
    })

    test('follows the configuration, and stays revoked without one', async () => {
      const [first, second] = ['chosen-by-the-operator-1', 'chosen-by-the-operator-2']
      await server.restart({ PLINTH_ADMIN_TOKEN: first })
      expect(await statusFor(server, first)).toBe(200)
      await server.restart({ PLINTH_ADMIN_TOKEN: second })
      expect([await statusFor(server, first), await statusFor(server, second)]).toEqual([401, 200])
      await server.restart({ PLINTH_ADMIN_TOKEN: '' })
      expect(await statusFor(server, second)).toBe(200)

      const admin = server.as(second)
      const user = (await admin.get(ACCOUNT)).body.data
      const tokens = await admin.get(`/api/v2/users/${user.id}/authentication-tokens`)
      expect(tokens.body.data).toHaveLength(1)
      await admin.delete(`/api/v2/authentication-tokens/${tokens.body.data[0].id}`)
      expect(await statusFor(server, second)).toBe(401)
      await server.restart()
      expect(await statusFor(server, second)).toBe(401)
      expect(existsSync(fileOf(server))).toBe(false)
      await server.restart({ PLINTH_ADMIN_TOKEN: first })
      expect((await server.as(first).get(ACCOUNT)).body.data.id).toBe(user.id)
      expect(server.logLines.join('')).not.toMatch(/chosen-by-the-operator/)
    })
  },
  { PLINTH_ADMIN_TOKEN: '' },
)

test.runIf(DIALECTS.includes('postgres'))(
  'servers that start together agree on the first administrator',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-bootstrap-'))
    const environment = {
      PLINTH_DATA_DIR: directory,
      PLINTH_DATABASE_URL: await createPostgresDatabase(),
      PLINTH_ADMIN_TOKEN: 'chosen-for-all-servers',
    }
    const secrets = readSecrets(environment, directory)
    const servers = await Promise.all(
      Array.from({ length: 4 }, () => assemble(readConfig(environment), secrets, pino({ level: 'silent' }))),
    )
    const started = await Promise.allSettled(servers.map((services) => ensureBootstrap(services, secrets)))
    await Promise.all(servers.map(({ connection }) => connection.close()))
    rmSync(directory, { recursive: true })
    expect(started).toEqual(servers.map(() => ({ status: 'fulfilled', value: undefined })))
  },
)
