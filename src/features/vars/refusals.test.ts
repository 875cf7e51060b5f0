import { expect, test } from 'vitest'
import { onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { document, newVariable, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object) => document('vars', attributes)

onEachDialect('refusals of variables', (server) => {
  const setUp = async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path)
    return { organization, owner, path, workspace, list: `/api/v2/workspaces/${workspace.id}/vars` }
  }

  test('are refused with every violation and its pointer', async () => {
    const { owner, workspace, list } = await setUp()
    const empty = await owner.post(list, { data: {} })
    expect(empty.status).toBe(422)
    expect(violations(empty)).toEqual([
      { pointer: '/data/attributes/category', detail: "Category can't be blank" },
      { pointer: '/data/attributes/key', detail: "Key can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    const wrong = { key: 'k', category: 'policy-set', hcl: 'yes', sensitive: 1, value: 3 }
    expect(pointers(await owner.post(list, body({ ...wrong, description: 'x'.repeat(513) })))).toEqual(
      ['category', 'description', 'hcl', 'sensitive', 'value'].map((name) => `/data/attributes/${name}`),
    )
    for (const [category, key] of [
      ['terraform', ''],
      ['terraform', 'with space'],
      ['terraform', '-first'],
      ['terraform', 'a.b'],
      ['terraform', 'x'.repeat(129)],
      ['env', 'with-hyphen'],
      ['env', '1ST'],
      ['env', 'A=B'],
      ['env', 'ÄÖ'],
    ]) {
      const answer = await owner.post(list, body({ key, category }))
      expect([key, answer.status, pointers(answer)]).toEqual([key, 422, ['/data/attributes/key']])
    }
    const value = 'ä'.repeat(128 * 1024 + 1)
    const long = await owner.post(list, body({ key: 'k', category: 'env', value }))
    expect([long.status, pointers(long)]).toEqual([422, ['/data/attributes/value']])
    const { links } = await newVariable(owner, workspace.id, { key: 'only-terraform' })
    const moved = await owner.patch(links.self, body({ category: 'env' }))
    expect([moved.status, pointers(moved)]).toEqual([422, ['/data/attributes/key']])
    expect((await owner.get(list)).body.data).toHaveLength(1)
  })

  test('take the largest value, and names of every script', async () => {
    const { owner, workspace } = await setUp()
    const value = 'ä'.repeat(128 * 1024)
    const { attributes, links } = await newVariable(owner, workspace.id, { key: 'größe_1-x', value })
    expect(attributes.key).toBe('größe_1-x')
    expect((await owner.get(links.self)).body.data.attributes.value).toBe(value)
    await newVariable(owner, workspace.id, { key: '0f9a' })
  })

  test('have a key of their own in each category', async () => {
    const { owner, path, workspace, list } = await setUp()
    await newVariable(owner, workspace.id, { key: 'taken' })
    await newVariable(owner, workspace.id, { key: 'taken', category: 'env' })
    await newVariable(owner, (await newWorkspace(owner, path)).id, { key: 'taken' })
    await newVariable(owner, workspace.id, { key: 'Taken' })
    const { links } = await newVariable(owner, workspace.id, { key: 'other' })
    for (const answer of [
      await owner.post(list, body({ key: 'taken', category: 'terraform' })),
      await owner.patch(links.self, body({ key: 'taken' })),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/key', detail: 'Key has already been taken' },
      ])
    }
  })

  test('are checked in order: token, resource, media type, body', async () => {
    const { owner, workspace, list } = await setUp()
    const { links } = await newVariable(owner, workspace.id)
    const stranger = await server.user()
    expect((await server.nobody.post('/api/v2/workspaces/ws-none/vars', {})).status).toBe(401)
    for (const path of [list, '/api/v2/workspaces/ws-none/vars']) {
      expect((await stranger.send('POST', path, 'x', { 'content-type': 'text/plain' })).status).toBe(404)
    }
    for (const [method, path] of [
      ['POST', list],
      ['PATCH', links.self],
    ] as const) {
      expect((await owner.send(method, path, '{}', { 'content-type': 'application/json' })).status).toBe(415)
      expect((await owner.send(method, path, '{')).status).toBe(400)
      expect((await owner.send(method, path, '{}')).status).toBe(422)
    }
    expect((await owner.patch(`${list}/var-none`, {})).status).toBe(404)
  })

  test('are found in their own workspace only', async () => {
    const { owner, path, workspace } = await setUp()
    const { id } = await newVariable(owner, workspace.id)
    const other = await newWorkspace(owner, path)
    const elsewhere = `/api/v2/workspaces/${other.id}/vars/${id}`
    for (const answer of [
      await owner.get(elsewhere),
      await owner.patch(elsewhere, body({})),
      await owner.delete(elsewhere),
    ]) {
      expect(answer.status).toBe(404)
    }
  })
})
