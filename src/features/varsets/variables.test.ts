import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { document, newVarset, newVarsetVariable } from '../../../test/resources.ts'

const body = (attributes: object) => document('vars', attributes)

onEachDialect('variables of sets', (server) => {
  const setUp = async (attributes: object = {}) => {
    const organization = await server.organization()
    const { owner, path } = organization
    const set = await newVarset(owner, path, attributes)
    return { organization, owner, path, set, list: `${set.links.self}/relationships/vars` }
  }

  test('are created, shown, listed, changed and deleted', async () => {
    const { owner, set, list } = await setUp()
    const given = { key: 'region', value: 'eu', description: 'where', category: 'terraform', hcl: false }
    const created = expectStatus(await owner.post(list, body(given)), 200).body.data
    expect(created).toEqual({
      id: expect.stringMatching(/^var-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'vars',
      attributes: {
        ...given,
        sensitive: false,
        'version-id': expect.any(String),
        'created-at': expect.stringMatching(/Z$/),
      },
      relationships: {
        varset: { data: { id: set.id, type: 'varsets' }, links: { related: set.links.self } },
      },
      links: { self: `${list}/${created.id}` },
    })
    const { self } = created.links
    expect((await owner.get(self)).body).toEqual({ data: created })
    expect((await owner.get(list)).body).toEqual({ data: [created] })
    expect((await owner.get(set.links.self)).body.data).toMatchObject({
      attributes: { 'var-count': 1 },
      relationships: { vars: { data: [{ id: created.id, type: 'vars' }] } },
    })

    const changed = await owner.patch(self, body({ value: '[1]', hcl: true, category: 'env' }))
    expect(changed.body.data.attributes).toEqual({
      ...created.attributes,
      value: '[1]',
      hcl: true,
      category: 'env',
      'version-id': expect.any(String),
    })
    expect(changed.body.data.attributes['version-id']).not.toBe(created.attributes['version-id'])
    const again = await owner.patch(self, body({}))
    expect(again.body.data.attributes['version-id']).not.toBe(changed.body.data.attributes['version-id'])

    expect(await owner.delete(self)).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(self)).status).toBe(404)
    expect((await owner.get(self)).status).toBe(404)
  })

  test('are listed all at once', async () => {
    const { owner, set, list } = await setUp()
    for (let number = 0; number < 22; number++) await newVarsetVariable(owner, set.id)
    expect((await owner.get(`${list}?page[size]=5`)).body.data).toHaveLength(22)
  })

  test('never show a sensitive value, and stay sensitive', async () => {
    const { organization, owner, set, list } = await setUp()
    const secret = 'the secret of a set'
    const variable = await newVarsetVariable(owner, set.id, { key: 'S', value: secret, sensitive: true })
    expect(variable.attributes.value).toBeNull()
    const { self } = variable.links
    expect(pointers(await owner.patch(self, body({ sensitive: false })))).toEqual([
      '/data/attributes/sensitive',
    ])
    for (const answer of [
      await owner.patch(self, body({ value: `${secret} too` })),
      await owner.get(list),
      await owner.get(`${set.links.self}?include=vars`),
      await (await server.organizationToken(organization)).get('/api/v2/organization/audit-trail'),
    ]) {
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain(secret)
    }
  })

  test('are refused as those of workspaces are', async () => {
    const { owner, set, list } = await setUp()
    expect(violations(await owner.post(list, { data: {} }))).toEqual([
      { pointer: '/data/attributes/category', detail: "Category can't be blank" },
      { pointer: '/data/attributes/key', detail: "Key can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    expect(pointers(await owner.post(list, body({ key: 'a-b', category: 'env' })))).toEqual([
      '/data/attributes/key',
    ])
    await newVarsetVariable(owner, set.id, { key: 'taken' })
    const { links } = await newVarsetVariable(owner, set.id, { key: 'taken', category: 'env' })
    for (const answer of [
      await owner.post(list, body({ key: 'taken', category: 'env' })),
      await owner.patch(links.self, body({ category: 'terraform' })),
    ]) {
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/key', detail: 'Key has already been taken' },
      ])
    }
  })

  test('of two global sets are not the same', async () => {
    const { owner, path, set, list } = await setUp({ name: 'first', global: true })
    await newVarsetVariable(owner, set.id, { key: 'one' })
    const other = await newVarset(owner, path, { name: 'second' })
    const twin = await newVarsetVariable(owner, other.id, { key: 'one' })
    await newVarsetVariable(owner, other.id, { key: 'one', category: 'env' })
    const refused = await owner.patch(other.links.self, document('varsets', { global: true }))
    expect(violations(refused)).toEqual([
      { pointer: '/data/attributes/global', detail: 'Global variable set first has the variable one too' },
    ])
    expect((await owner.get(other.links.self)).body.data.attributes.global).toBe(false)

    await owner.patch(twin.links.self, body({ key: 'two' }))
    expectStatus(await owner.patch(other.links.self, document('varsets', { global: true })), 200)
    const vars = { data: [{ type: 'vars', attributes: { key: 'two', category: 'terraform' } }] }
    const detail = (name: string) => `Key has already been taken in the global variable set ${name}`
    for (const [answer, pointer, name] of [
      [await owner.post(list, body({ key: 'two', category: 'terraform' })), '/data', 'second'],
      [await owner.patch(twin.links.self, body({ key: 'one' })), '/data', 'first'],
      [
        await owner.post(`${path}/varsets`, document('varsets', { name: 'third', global: true }, { vars })),
        '/data/relationships/vars/data/0',
        'second',
      ],
    ] as const) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([{ pointer: `${pointer}/attributes/key`, detail: detail(name) }])
    }
    expectStatus(await owner.patch(other.links.self, document('varsets', { global: false })), 200)
    await newVarsetVariable(owner, set.id, { key: 'two' })
  })

  test('race: of many global sets one gets a variable, however they come by it', async () => {
    const { owner, path } = await setUp()
    const globals = await Promise.all(
      Array.from({ length: 4 }, () => newVarset(owner, path, { global: true })),
    )
    const others = await Promise.all(Array.from({ length: 4 }, () => newVarset(owner, path)))
    for (const { id } of others) await newVarsetVariable(owner, id, { key: 'race' })
    const answers = await Promise.all([
      ...globals.map(({ links }) =>
        owner.post(`${links.self}/relationships/vars`, body({ key: 'race', category: 'terraform' })),
      ),
      ...others.map(({ links }) => owner.patch(links.self, document('varsets', { global: true }))),
    ])
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(422)])
  })

  test('are given with their set too: new ones, and changes of those that it has', async () => {
    const { owner, path, set } = await setUp()
    const kept = await newVarsetVariable(owner, set.id, { key: 'kept' })
    const changed = await newVarsetVariable(owner, set.id, { key: 'changed' })
    const give = (...data: object[]) =>
      owner.patch(`${set.links.self}?include=vars`, document('varsets', {}, { vars: { data } }))
    const answer = await give(
      { type: 'vars', id: kept.id },
      { type: 'vars', id: changed.id, attributes: { value: 'new value' } },
      { type: 'vars', attributes: { key: 'added', value: 'x', category: 'env' } },
    )
    expect(answer.status).toBe(200)
    expect(answer.body.included).toMatchObject([
      kept,
      { id: changed.id, attributes: { key: 'changed', value: 'new value' } },
      { attributes: { key: 'added', value: 'x', category: 'env' } },
    ])
    const foreign = await newVarsetVariable(owner, (await newVarset(owner, path)).id)
    expect(violations(await give({ type: 'vars', id: foreign.id }))).toEqual([
      { pointer: '/data/relationships/vars/data/0/id', detail: 'Variable does not exist' },
    ])
    expect(violations(await give({ type: 'vars' }))).toEqual([
      {
        pointer: '/data/relationships/vars/data/0/attributes/category',
        detail: "Category can't be blank",
      },
      { pointer: '/data/relationships/vars/data/0/attributes/key', detail: "Key can't be blank" },
    ])
  })

  test('are checked in order, and found in their own set only', async () => {
    const { organization, owner, path, set, list } = await setUp()
    const { id, links } = await newVarsetVariable(owner, set.id)
    const other = await newVarset(owner, path)
    const elsewhere = `${other.links.self}/relationships/vars/${id}`
    for (const answer of [
      await owner.get(elsewhere),
      await owner.patch(elsewhere, {}),
      await owner.delete(elsewhere),
    ]) {
      expect(answer.status).toBe(404)
    }
    expect((await server.nobody.get(list)).status).toBe(401)
    for (const [method, address] of [
      ['POST', list],
      ['PATCH', links.self],
    ] as const) {
      expect((await owner.send(method, address, '{}', { 'content-type': 'application/json' })).status).toBe(
        415,
      )
      expect((await owner.send(method, address, '{')).status).toBe(400)
      expect((await owner.send(method, address, '{}')).status).toBe(422)
    }
    const reader = await server.member(organization, ['read-projects'])
    const changes = (client: Client) => [
      client.post(list, {}),
      client.patch(links.self, {}),
      client.delete(links.self),
    ]
    for (const answer of await Promise.all(changes(reader))) expect(answer.status).toBe(404)
    expect((await reader.get(list)).body.data).toHaveLength(1)
    expect((await reader.get(links.self)).status).toBe(200)
    const stranger = await server.user()
    for (const answer of await Promise.all([
      ...changes(stranger),
      stranger.get(list),
      stranger.get(links.self),
    ])) {
      expect(answer.status).toBe(404)
    }
  })
})
