import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  type TestOrganization,
  TestServer,
} from '../../../test/harness.ts'
import { createModule, publishModule } from '../../../test/modules.ts'
import { addKey, makeKey, publish, type SigningKey } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { readSnapshot } from '../../db/snapshot.ts'
import { type LogHead, type LogRecord, NO_RECORD, verifyExport } from '../../lib/registry-log.ts'

const GPG_KEYS = '/api/registry/private/v2/gpg-keys'

/** What two servers of one database have in common. */
const SECRET = { PLINTH_SECRET_KEY: 'registry-log-'.padEnd(40, 's') }

const removeKey = ({ owner, name }: TestOrganization, { keyId }: SigningKey) =>
  owner.delete(`${GPG_KEYS}/${name}/${keyId}`)

const listed = async (client: Client, path: string, query = ''): Promise<Answer> =>
  expectStatus(await client.get(`${path}/registry-log${query}`), 200)

const recordsOf = (answer: Answer): LogRecord[] =>
  answer.body.data.map(({ attributes }: { attributes: LogRecord }) => attributes)

const exported = async ({ owner, path }: TestOrganization, query = '') => {
  const answer = expectStatus(await owner.get(`${path}/registry-log/export${query}`), 200)
  return { answer, lines: answer.text.split('\n') }
}

const verified = async (organization: TestOrganization, since?: LogHead) =>
  (await verifyExport((await exported(organization)).lines, since)).verdict

onEachDialect(
  'the transparency log',
  (server) => {
    test('tells of keys that were added, moved and removed, newest first, and where it ends', async () => {
      const organization = await server.organization()
      const { owner, path, name } = organization
      const empty = await listed(owner, path)
      expect(empty.body).toMatchObject({ data: [], meta: { head: null } })
      const key = await addKey(organization, await makeKey())
      const { 'external-id': organizationId } = (await owner.get(path)).body.data.attributes
      const answer = await listed(owner, path)
      const [added] = recordsOf(answer) as [LogRecord]
      const subject = {
        kind: 'gpg-key',
        namespace: name,
        'key-id': key.keyId,
        fingerprint: expect.stringMatching(new RegExp(`^[0-9A-F]{24}${key.keyId}$`)),
      }
      const signedBy = added.key
      expect(answer.body).toEqual({
        data: [
          {
            id: added.hash,
            type: 'registry-log-records',
            attributes: {
              organization: { id: organizationId, name },
              sequence: 1,
              time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
              action: 'add',
              subject,
              actor: { type: 'user', id: owner.id, name: owner.username },
              previous: NO_RECORD,
              key: expect.stringMatching(/^[0-9a-f]{32}$/),
              hash: expect.stringMatching(/^[0-9a-f]{64}$/),
              signature: expect.stringMatching(/^[0-9a-f]{128}$/),
            },
          },
        ],
        links: expect.any(Object),
        meta: {
          pagination: expect.objectContaining({ 'total-count': 1 }),
          head: { sequence: 1, hash: added.hash },
          keys: [{ id: signedBy, 'public-key': expect.stringMatching(/^[A-Za-z0-9+/]{59}=$/) }],
        },
      })

      const target = await owner.post('/api/v2/organizations', {
        data: { type: 'organizations', attributes: { name: `${name}-2`, email: 'a@example.com' } },
      })
      const elsewhere = { name: `${name}-2`, path: `/api/v2/organizations/${name}-2`, owner }
      expectStatus(target, 201)
      const move = document('gpg-keys', { namespace: elsewhere.name })
      expectStatus(await owner.patch(`${GPG_KEYS}/${name}/${key.keyId}`, move), 201)
      expectStatus(await removeKey(elsewhere, key), 201)
      const left = recordsOf(await listed(owner, path))
      expect(left.map(({ action, subject }) => [action, subject['details']])).toEqual([
        ['move', { to: elsewhere.name }],
        ['add', undefined],
      ])
      const arrived = recordsOf(await listed(owner, elsewhere.path))
      expect(arrived.map(({ action, subject }) => [action, subject['details']])).toEqual([
        ['remove', undefined],
        ['move', { from: name }],
      ])
      for (const each of [organization, elsewhere]) expect(await verified(each)).toMatchObject({ ok: true })
    })

    test('tells nothing of what was refused, or changed nothing', async () => {
      const organization = await server.organization()
      const { owner, path, name } = organization
      const key = await addKey(organization, await makeKey())
      const again = document('gpg-keys', { namespace: name, 'ascii-armor': key.armor })
      expectStatus(await owner.post(GPG_KEYS, again), 422)
      const nowhere = document('gpg-keys', { namespace: 'nowhere' })
      expectStatus(await owner.patch(`${GPG_KEYS}/${name}/${key.keyId}`, nowhere), 422)
      const same = document('gpg-keys', { namespace: name })
      expectStatus(await owner.patch(`${GPG_KEYS}/${name}/${key.keyId}`, same), 201)
      expect(recordsOf(await listed(owner, path))).toHaveLength(1)
    })

    test('comes in pages, and as one file that anybody can check', async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const key = await makeKey()
      for (let n = 0; n < 3; n += 1) {
        await addKey(organization, key)
        expectStatus(await removeKey(organization, key), 201)
      }
      const second = await listed(owner, path, '?page[size]=4&page[number]=2')
      expect(recordsOf(second).map(({ sequence }) => sequence)).toEqual([2, 1])
      expect(second.body.meta.pagination).toMatchObject({
        'prev-page': 1,
        'next-page': null,
        'total-count': 6,
      })
      expect(second.body.meta.head.sequence).toBe(6)
      expect(recordsOf(await listed(owner, path, '?page[number]=9'))).toEqual([])
      expect((await owner.get(`${path}/registry-log?page[number]=0`)).status).toBe(400)

      const { answer, lines } = await exported(organization)
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
      const { header, verdict } = await verifyExport(lines)
      const head = second.body.meta.head
      expect({ ...header, verdict }).toMatchObject({
        organization: { name: organization.name },
        head,
        keys: second.body.meta.keys,
        verdict: { ok: true, head },
      })
      const all = recordsOf(await listed(owner, path)).reverse()
      expect(lines.slice(1, -1).map((line) => JSON.parse(line))).toEqual(all)

      const seen = { sequence: 4, hash: all[3]?.hash ?? '' }
      const rest = await exported(organization, '?from=4')
      expect(rest.lines.slice(1, -1).map((line) => JSON.parse(line))).toEqual(all.slice(3))
      expect((await verifyExport(rest.lines, seen)).verdict).toMatchObject({ ok: true })
      expect((await verifyExport(rest.lines, { ...seen, hash: NO_RECORD })).verdict.ok).toBe(false)
      expect((await exported(organization, '?from=7')).lines).toHaveLength(2)
      for (const from of ['0', '-1', 'x', '', '1.5', '99999999999']) {
        const refused = await owner.get(`${path}/registry-log/export?from=${from}`)
        expect([from, refused.status, refused.body.errors[0].source]).toEqual([
          from,
          400,
          { parameter: 'from' },
        ])
      }
    })

    test('finds what is about a provider or a module', async () => {
      const organization = await server.organization()
      const { owner, path, name } = organization
      await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
      await createModule(organization, 'network')
      await publishModule(owner, `${path}/registry-modules/private/${name}/network/aws`, '1.2.3')
      const found = async (query: string) =>
        recordsOf(await listed(owner, path, query)).map(({ subject }) => `${subject.kind} ${subject['name']}`)
      const [module, provider] = ['module-version network', 'provider-version demo']
      expect(await found('?filter[provider]=demo')).toEqual([provider])
      expect(await found('?filter[provider]=DEMO')).toEqual([provider])
      expect(await found('?filter[provider]=network')).toEqual([])
      expect(await found('?filter[module]=network')).toEqual([module])
      expect(await found('?filter[module]=network/aws')).toEqual([module])
      expect(await found('?filter[module]=network/google')).toEqual([])
      expect(await found('?filter[module]=network/aws&filter[provider]=demo')).toEqual([module, provider])
      expect(await verified(organization)).toMatchObject({ ok: true, head: { sequence: 3 } })
    })

    test('is read by whoever may read the registry, and exists for nobody else', async () => {
      const organization = await server.organization()
      const { path } = organization
      await addKey(organization, await makeKey())
      const readers = [
        await server.member(organization),
        await server.teamToken(organization),
        await server.organizationToken(organization),
      ]
      for (const reader of readers) expect(recordsOf(await listed(reader, path))).toHaveLength(1)
      for (const address of [`${path}/registry-log`, `${path}/registry-log/export`]) {
        expect((await server.nobody.get(address)).status).toBe(401)
        for (const stranger of [await server.user(), server.admin])
          expect((await stranger.get(`${address}?page[number]=0&from=x`)).status).toBe(404)
      }
    })

    test('goes with its organization; the audit trail keeps where it ended', async () => {
      const organization = await server.organization()
      const { owner, path, name } = organization
      await addKey(organization, await makeKey())
      const since = (await listed(owner, path)).body.meta.head
      expectStatus(await owner.delete(path), 204)
      const events = await readSnapshot(server.config.database, (db) =>
        db.selectFrom('auditEvents').selectAll().where('resourceType', '=', 'registry_log').execute(),
      )
      expect(events.map(({ action, resourceId, meta }) => [action, resourceId, JSON.parse(meta)])).toEqual([
        ['destroy', name, { sequence: '1', hash: since.hash }],
      ])
      const namesake = await server.organization(name)
      expect(await verified(namesake)).toEqual({ ok: true, head: undefined })
      expect(await verified(namesake, since)).toMatchObject({ ok: false })
      await addKey(namesake, await makeKey())
      expect(await verified(namesake, since)).toMatchObject({ ok: false, sequence: 1 })
    })

    test('has no gap and no fork when many append at once, on two servers where there can be', async () => {
      const organization = await server.organization()
      const keys = await Promise.all(Array.from({ length: 40 }, () => makeKey()))
      const database = server.config.database
      const other =
        database.kind === 'postgres'
          ? new TestServer('postgres', {
              ...SECRET,
              PLINTH_DATABASE_URL: database.url,
              PLINTH_ADMIN_TOKEN: server.admin.token ?? '',
            })
          : undefined
      await other?.start()
      const clients = [
        organization.owner,
        other ? other.as(organization.owner.token ?? '') : organization.owner,
      ]
      const answers = await Promise.all(
        keys.map(({ armor }, n) =>
          (clients[n % 2] as Client).post(
            GPG_KEYS,
            document('gpg-keys', { namespace: organization.name, 'ascii-armor': armor }),
          ),
        ),
      )
      await other?.stop()
      expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 201))
      expect(await verified(organization)).toMatchObject({ ok: true, head: { sequence: 40 } })
    })
  },
  SECRET,
)
