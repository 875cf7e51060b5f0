import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../../test/harness.ts'
import { start } from '../app.ts'
import { readSecrets } from '../config/secrets.ts'
import { connect } from '../db/connect.ts'

const project = (attributes: object) => ({ data: { type: 'projects', attributes } })

onEachDialect('answers that are remembered', (server) => {
  /** Asks twice, so that the second answer can come from memory, which it must not differ by. */
  const twice = async (client: Client, path: string) => {
    const first = await client.get(path)
    const second = await client.get(path)
    expect([second.status, second.body]).toEqual([first.status, first.body])
    return second
  }

  const make = async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const created = await owner.post(`${path}/projects`, project({ name: 'before' }))
    return { organization, owner, id: expectStatus(created, 201).body.data.id as string }
  }

  test('are the same in every respect, and come with a log line and an ETag', async () => {
    const { owner, id } = await make()
    const path = `/api/v2/projects/${id}`
    const first = await owner.get(path)
    const lines = server.logLines.length
    const second = await owner.get(path)
    const kept = (headers: Headers) => [...headers].filter(([name]) => !['date'].includes(name)).sort()
    expect(kept(second.headers)).toEqual(kept(first.headers))
    const line = JSON.parse(server.logLines.slice(lines).join(''))
    expect(line).toMatchObject({ method: 'GET', route: '/api/v2/projects/:id', path, status: 200 })
    const etag = first.headers.get('etag') as string
    for (let n = 0; n < 2; n++) {
      const known = await owner.send('GET', path, undefined, { 'if-none-match': etag })
      expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag])
    }
    const created = await owner.post(`/api/v2/organizations/${(await make()).organization.name}/projects`, {})
    expect(created.status).toBe(404)
  })

  test('change with what they were read from', async () => {
    const { organization, owner, id } = await make()
    const path = `/api/v2/projects/${id}`
    const list = `${organization.path}/projects`
    expect((await twice(owner, path)).body.data.attributes.name).toBe('before')
    expect((await twice(owner, list)).body.data).toHaveLength(2)
    expectStatus(await owner.patch(path, project({ name: 'after' })), 200)
    expect((await twice(owner, path)).body.data.attributes.name).toBe('after')
    expectStatus(await owner.post(list, project({ name: 'third' })), 201)
    expect((await twice(owner, list)).body.data).toHaveLength(3)
    expectStatus(await owner.delete(path), 204)
    expect((await twice(owner, path)).status).toBe(404)
    expect((await twice(owner, list)).body.data).toHaveLength(2)
  })

  test('end with the rights and the token they were given to', async () => {
    const { organization, owner, id } = await make()
    const path = `/api/v2/projects/${id}`
    const member = await server.member(organization, ['read-projects'])
    expect((await twice(member, path)).status).toBe(200)
    const withdrawn = {
      data: { type: 'teams', attributes: { 'organization-access': { 'read-projects': false } } },
    }
    expectStatus(await owner.patch(`/api/v2/teams/${member.teamId}`, withdrawn), 200)
    expect((await twice(member, path)).status).toBe(404)

    const reader = await server.member(organization, ['read-projects'])
    expect((await twice(reader, path)).status).toBe(200)
    expectStatus(await owner.delete(`/api/v2/organization-memberships/${reader.membershipId}`), 204)
    expect((await twice(reader, path)).status).toBe(404)

    const token = async (attributes: object) => {
      const body = { data: { type: 'authentication-tokens', attributes } }
      const { data } = expectStatus(
        await owner.post(`/api/v2/users/${owner.id}/authentication-tokens`, body),
        201,
      ).body
      return { id: data.id as string, client: server.as(data.attributes.token) }
    }
    const revoked = await token({ description: 'to be revoked' })
    expect((await twice(revoked.client, path)).status).toBe(200)
    expectStatus(await owner.delete(`/api/v2/authentication-tokens/${revoked.id}`), 204)
    expect((await twice(revoked.client, path)).status).toBe(401)

    const ending = await token({
      description: 'to end',
      'expired-at': new Date(Date.now() + 1_500).toISOString(),
    })
    expect((await twice(ending.client, path)).status).toBe(200)
    await sleep(1_600)
    expect((await ending.client.get(path)).status).toBe(401)
  })

  test('go with what they depend on when that is deleted in passing', async () => {
    const { organization, owner, id } = await make()
    expect((await twice(owner, `/api/v2/projects/${id}`)).status).toBe(200)
    expectStatus(await owner.delete(organization.path), 204)
    expect((await twice(owner, `/api/v2/projects/${id}`)).status).toBe(404)
  })

  test('are not kept past what another process changes', async () => {
    const { owner, id } = await make()
    const path = `/api/v2/projects/${id}`
    expect((await twice(owner, path)).body.data.attributes.name).toBe('before')
    const other = await connect(server.config.database, () => {})
    await other.writes
      .transaction()
      .execute((tx) => tx.updateTable('projects').set({ name: 'elsewhere' }).where('id', '=', id).execute())
    await other.close()
    expect((await twice(owner, path)).body.data.attributes.name).toBe('elsewhere')

    const config = { ...server.config, listen: { host: '127.0.0.1', port: 0 } }
    const second = await start(config, readSecrets({}, server.dataDir), pino({ level: 'silent' }))
    try {
      const changed = await owner.send('PATCH', second.url + path, project({ name: 'by a second server' }))
      expectStatus(changed, 200)
      expect((await twice(owner, path)).body.data.attributes.name).toBe('by a second server')
    } finally {
      await second.stop()
    }
  })

  test('are nobody else’s', async () => {
    const { owner, id } = await make()
    const path = `/api/v2/projects/${id}`
    await twice(owner, path)
    expect((await (await server.user()).get(path)).status).toBe(404)
    expect((await server.nobody.get(path)).status).toBe(401)
  })
})
