import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestOrganization, violations } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { privateKeyOf } from './service.ts'

const VALUE = '-----BEGIN OPENSSH PRIVATE KEY-----\nthis-is-the-secret\n-----END OPENSSH PRIVATE KEY-----\n'

const body = (attributes: object) => document('ssh-keys', attributes)

const choose = (id: string | null | undefined) => document('workspaces', { id })

onEachDialect('SSH keys', (server) => {
  const add = async ({ owner, path }: TestOrganization, name = 'modules') =>
    expectStatus(await owner.post(`${path}/ssh-keys`, body({ name, value: VALUE })), 201).body.data

  test('are added, shown without their value, renamed and removed', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const key = await add(organization)
    expect(key).toEqual({
      id: expect.stringMatching(/^sshkey-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'ssh-keys',
      attributes: { name: 'modules' },
      links: { self: `/api/v2/ssh-keys/${key.id}` },
    })
    expect((await owner.get(key.links.self)).body.data).toEqual(key)
    expect((await owner.get(`${path}/ssh-keys`)).body.data).toEqual([key])
    const renamed = await owner.patch(key.links.self, body({ name: 'other', value: 'ignored' }))
    expect(renamed.body.data).toEqual({ ...key, attributes: { name: 'other' } })
    expect((await owner.patch(key.links.self, body({}))).body.data.attributes.name).toBe('other')
    expect(await owner.delete(key.links.self)).toMatchObject({ status: 204, text: '' })
    for (const gone of [owner.get(key.links.self), owner.delete(key.links.self)])
      expect((await gone).status).toBe(404)
  })

  test('are sealed where they are stored, and open for the runs of workspaces that use them', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const [key, other] = [await add(organization, 'one'), await add(organization, 'two')]
    const workspace = await newWorkspace(owner, path)
    const relationship = `/api/v2/workspaces/${workspace.id}/relationships/ssh-key`
    const inUse = () =>
      asSecondServer(server, async (ctx) => {
        const row = await ctx.db
          .selectFrom('workspaces')
          .select('sshKeyId')
          .where('id', '=', workspace.id)
          .executeTakeFirstOrThrow()
        return privateKeyOf(ctx, row)
      })
    expect(await inUse()).toBeUndefined()
    const assigned = await owner.patch(relationship, choose(key.id))
    expect(assigned.body.data).toMatchObject({
      id: workspace.id,
      type: 'workspaces',
      relationships: { 'ssh-key': { data: { id: key.id, type: 'ssh-keys' } } },
    })
    expect(await inUse()).toBe(VALUE)
    await asSecondServer(server, async ({ db }) => {
      const { value } = await db
        .selectFrom('sshKeys')
        .select('value')
        .where('id', '=', key.id)
        .executeTakeFirstOrThrow()
      expect(value).toMatch(/^sealed:/)
      expect(Buffer.from(value.slice(7), 'base64url').includes('this-is-the-secret')).toBe(false)
    })
    expect(server.logLines.join('')).not.toContain('this-is-the-secret')

    await owner.patch(relationship, choose(other.id))
    const none = await owner.patch(relationship, choose(null))
    expect(none.body.data.relationships['ssh-key'].data).toBeNull()
    await owner.patch(relationship, choose(key.id))
    expect((await owner.delete(key.links.self)).status).toBe(204)
    const shown = await owner.get(`/api/v2/workspaces/${workspace.id}`)
    expect(shown.body.data.relationships['ssh-key'].data).toBeNull()
    expect(await inUse()).toBeUndefined()
  })

  test('come in pages', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    for (const name of ['a', 'b', 'c']) await add(organization, name)
    const second = await owner.get(`${path}/ssh-keys?page[number]=2&page[size]=2`)
    expect(second.body.data).toMatchObject([{ attributes: { name: 'c' } }])
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': null })
    const beyond = await owner.get(`${path}/ssh-keys?page[number]=9&page[size]=2`)
    expect(beyond.body).toMatchObject({ data: [], meta: { pagination: { 'current-page': 9 } } })
  })

  test('are refused with pointers, in order', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const list = `${path}/ssh-keys`
    expect((await server.nobody.post('/api/v2/organizations/none/ssh-keys', {})).status).toBe(401)
    expect((await owner.post('/api/v2/organizations/none/ssh-keys', {})).status).toBe(404)
    expect((await owner.send('POST', list, '{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await owner.send('POST', list, '{')).status).toBe(400)
    expect(violations(await owner.post(list, { data: {} }))).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/attributes/value', detail: "Value can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    const key = await add(organization)
    await add(organization, 'taken')
    for (const answer of [
      await owner.post(list, body({ name: 'taken', value: 'x' })),
      await owner.patch(key.links.self, body({ name: 'taken' })),
    ]) {
      expect([answer.status, violations(answer)]).toEqual([
        422,
        [{ pointer: '/data/attributes/name', detail: 'Name has already been taken' }],
      ])
    }
    const workspace = await newWorkspace(owner, path)
    const foreign = await add(await server.organization())
    const relationship = `/api/v2/workspaces/${workspace.id}/relationships/ssh-key`
    for (const id of [foreign.id, 'sshkey-none', undefined, 7]) {
      const answer = await owner.patch(relationship, choose(id as string))
      expect([id, answer.status, violations(answer)[0]?.pointer]).toEqual([id, 422, '/data/attributes/id'])
    }
  })

  test('are for those who may manage them, and to be chosen by those who manage workspaces', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const key = await add(organization)
    const workspace = await newWorkspace(owner, path)
    const relationship = `/api/v2/workspaces/${workspace.id}/relationships/ssh-key`
    const chooser = await server.member(organization, ['manage-workspaces'])
    expect((await chooser.get(`${path}/ssh-keys`)).status).toBe(200)
    expect((await chooser.patch(relationship, choose(key.id))).status).toBe(200)
    expect((await chooser.delete(key.links.self)).status).toBe(404)
    const keeper = await server.member(organization, ['manage-vcs-settings'])
    expect((await keeper.patch(key.links.self, body({ name: 'kept' }))).status).toBe(200)
    expect((await keeper.patch(relationship, choose(null))).status).toBe(404)
    for (const who of [await server.user(), await server.member(organization, ['read-workspaces'])]) {
      const asked = [
        who.get(`${path}/ssh-keys`),
        who.post(`${path}/ssh-keys`, body({ name: 'x', value: 'x' })),
        who.get(key.links.self),
        who.patch(key.links.self, body({ name: 'x' })),
        who.delete(key.links.self),
        who.patch(relationship, choose(null)),
      ]
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(6).fill(404))
    }
  })

  test('race: of several keys of one name exactly one is added', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => owner.post(`${path}/ssh-keys`, body({ name: 'race', value: 'x' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
  })
})
