import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { document, newVariable, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object) => document('vars', attributes)

onEachDialect('variables', (server) => {
  const setUp = async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path)
    return { organization, owner, path, workspace, list: `/api/v2/workspaces/${workspace.id}/vars` }
  }

  test('are created, shown, listed, changed and deleted', async () => {
    const { organization, owner, workspace, list } = await setUp()
    const created = expectStatus(
      await owner.post(
        list,
        body({ key: 'region', value: 'eu', category: 'terraform', description: 'where' }),
      ),
      201,
    ).body.data
    expect(created).toEqual({
      id: expect.stringMatching(/^var-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'vars',
      attributes: {
        key: 'region',
        value: 'eu',
        description: 'where',
        category: 'terraform',
        hcl: false,
        sensitive: false,
        'version-id': expect.any(String),
        'created-at': expect.stringMatching(/Z$/),
      },
      relationships: {
        configurable: {
          data: { id: workspace.id, type: 'workspaces' },
          links: {
            related: `/api/v2/organizations/${organization.name}/workspaces/${workspace.attributes.name}`,
          },
        },
      },
      links: { self: `${list}/${created.id}` },
    })
    expect((await owner.get(created.links.self)).body.data).toEqual(created)
    expect((await owner.get(list)).body).toEqual({ data: [created] })

    const changed = await owner.patch(created.links.self, body({ key: 'zone', value: '["a"]', hcl: true }))
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toEqual({
      ...created.attributes,
      key: 'zone',
      value: '["a"]',
      hcl: true,
      'version-id': expect.any(String),
    })
    expect(changed.body.data.attributes['version-id']).not.toBe(created.attributes['version-id'])

    expect(await owner.delete(created.links.self)).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(created.links.self)).status).toBe(404)
    expect((await owner.get(created.links.self)).status).toBe(404)
    expect((await owner.get(list)).body).toEqual({ data: [] })
  })

  test('get a new version with every change, also one that changes nothing', async () => {
    const { owner, workspace } = await setUp()
    const variable = await newVariable(owner, workspace.id, { value: 'same' })
    const { attributes } = (await owner.patch(variable.links.self, body({}))).body.data
    expect(attributes).toEqual({ ...variable.attributes, 'version-id': expect.any(String) })
    expect(attributes['version-id']).not.toBe(variable.attributes['version-id'])
  })

  test('are listed all at once', async () => {
    const { owner, workspace, list } = await setUp()
    for (let number = 0; number < 25; number++)
      await newVariable(owner, workspace.id, { key: `key_${number}` })
    const { data } = (await owner.get(`${list}?page[number]=2&page[size]=10`)).body
    expect(data.map((each: { attributes: { key: string } }) => each.attributes.key)).toEqual(
      Array.from({ length: 25 }, (_, number) => `key_${number}`),
    )
  })

  test('have an empty value unless they are given one', async () => {
    const { owner, list } = await setUp()
    for (const [key, given] of Object.entries({ a: {}, b: { value: null, description: null } })) {
      const created = await owner.post(list, body({ key, category: 'env', ...given }))
      expect(created.body.data.attributes).toMatchObject({ value: '', description: '' })
    }
  })

  test('never show a sensitive value, and stay sensitive', async () => {
    const { organization, owner, list } = await setUp()
    const secret = 'a very secret value'
    const created = await owner.post(
      list,
      body({ key: 'TOKEN', value: secret, category: 'env', sensitive: true, description: 'x' }),
    )
    expect(created.text).not.toContain(secret)
    expect(created.body.data.attributes).toMatchObject({ value: null, sensitive: true })
    const { self } = created.body.data.links

    const off = await owner.patch(self, body({ sensitive: false, key: 'OTHER' }))
    expect(off.status).toBe(422)
    expect(violations(off)).toEqual([
      { pointer: '/data/attributes/key', detail: 'Key of a sensitive variable cannot be changed' },
      { pointer: '/data/attributes/sensitive', detail: 'Sensitive cannot be turned off' },
    ])
    const answers = [
      await owner.patch(self, body({ description: 'y', value: null, sensitive: true, key: 'TOKEN' })),
      await owner.patch(self, body({ value: `${secret}, again` })),
      await owner.get(self),
      await owner.get(list),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain(secret)
    }
    expect((await owner.get(self)).body.data.attributes).toMatchObject({ value: null, description: 'y' })

    const trail = await (await server.organizationToken(organization)).get('/api/v2/organization/audit-trail')
    expect(trail.text).toContain('TOKEN')
    expect(trail.text).not.toContain(secret)
    expect(server.logLines.join('')).not.toContain(secret)
  })

  test('lose their value from sight when they become sensitive', async () => {
    const { owner, workspace } = await setUp()
    const { links } = await newVariable(owner, workspace.id, { value: 'seen' })
    const changed = await owner.patch(links.self, body({ sensitive: true }))
    expect(changed.body.data.attributes).toMatchObject({ sensitive: true, value: null })
  })

  test('race: of many creates of one key exactly one wins', async () => {
    const { owner, list } = await setUp()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(list, body({ key: 'race', category: 'env' }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('race: what becomes sensitive is never shown by a change at the same time', async () => {
    const { owner, workspace } = await setUp()
    const { links } = await newVariable(owner, workspace.id, { key: 'race' })
    await Promise.all([
      owner.patch(links.self, body({ sensitive: true })),
      ...Array.from({ length: 6 }, (_, n) =>
        owner.patch(links.self, body({ sensitive: false, value: `${n}` })),
      ),
    ])
    expect((await owner.get(links.self)).body.data.attributes).toMatchObject({ sensitive: true, value: null })
  })

  test('are read by those who read workspaces, and changed by those who manage them', async () => {
    const { organization, owner, workspace, list } = await setUp()
    const { links, id } = await newVariable(owner, workspace.id)
    const calls = (client: Client) => [
      client.get(list),
      client.get(links.self),
      client.get(`/api/v2/workspaces/${workspace.id}/all-vars`),
    ]
    const changes = (client: Client) => [
      client.post(list, body({ key: 'a', category: 'env' })),
      client.patch(links.self, body({})),
      client.patch(`/api/v2/vars/${id}`, body({})),
      client.delete(links.self),
      client.delete(`/api/v2/vars/${id}`),
    ]
    const statuses = async (answers: ReturnType<typeof calls>) =>
      new Set((await Promise.all(answers)).map(({ status }) => status))
    for (const client of [await server.user(), await server.member(organization, ['manage-teams'])]) {
      expect(await statuses([...calls(client), ...changes(client)])).toEqual(new Set([404]))
    }
    const reader = await server.member(organization, ['read-workspaces'])
    expect(await statuses(calls(reader))).toEqual(new Set([200]))
    expect(await statuses(changes(reader))).toEqual(new Set([404]))
    for (const client of [
      await server.member(organization, ['manage-workspaces']),
      await server.organizationToken(organization),
    ]) {
      expect((await client.patch(links.self, body({ description: 'changed' }))).status).toBe(200)
    }
  })

  test('belong to what a workspace shows, and come along with it', async () => {
    const { organization, owner, path, workspace } = await setUp()
    const first = await newVariable(owner, workspace.id, { key: 'b' })
    const second = await newVariable(owner, workspace.id, { key: 'a', sensitive: true })
    const identifiers = [first, second].map(({ id }) => ({ id, type: 'vars' }))
    const shown = (await owner.get(`/api/v2/workspaces/${workspace.id}?include=vars`)).body
    expect(shown.data.relationships.vars.data).toEqual(identifiers)
    expect(shown.included).toEqual([first, second])
    const listed = (await owner.get(`${path}/workspaces`)).body.data
    expect(listed[0].relationships.vars.data).toEqual(identifiers)
    const reader = await server.member(organization, ['read-workspaces'])
    const { permissions } = (await reader.get(`/api/v2/workspaces/${workspace.id}`)).body.data.attributes
    expect(permissions).toMatchObject({ 'can-read-variable': true, 'can-update-variable': false })
  })

  test('go with their workspace', async () => {
    const { owner, workspace, list } = await setUp()
    const { id } = await newVariable(owner, workspace.id)
    expectStatus(await owner.delete(`/api/v2/workspaces/${workspace.id}`), 204)
    expect((await owner.get(list)).status).toBe(404)
    expect((await owner.patch(`/api/v2/vars/${id}`, body({}))).status).toBe(404)
  })
})
