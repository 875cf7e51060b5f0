import { expect, test } from 'vitest'
import { type Answer, type Client, onEachDialect, violations } from '../../../test/harness.ts'
import { newWorkspace, tags } from '../../../test/resources.ts'

const names = (answer: Answer): string[] =>
  answer.body.data.map((item: { attributes: { name: string } }) => item.attributes.name)

const identifiers = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ type, id })) })

onEachDialect('tags', (server) => {
  const tagsOf = ({ id }: { id: string }) => `/api/v2/workspaces/${id}/relationships/tags`

  test('are put on a workspace by name or id, listed, and taken off', async () => {
    const { owner, path, name: organization } = await server.organization()
    const [first, second] = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    expect(await owner.post(tagsOf(first), tags('b', 'a:1', 'b'))).toMatchObject({ status: 204, text: '' })
    const list = await owner.get(tagsOf(first))
    expect(list.body.data[0]).toEqual({
      id: expect.stringMatching(/^tag-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'tags',
      attributes: { name: 'a:1', 'created-at': expect.stringMatching(/Z$/), 'instance-count': 1 },
      relationships: { organization: { data: { id: organization, type: 'organizations' } } },
    })
    expect(names(list)).toEqual(['a:1', 'b'])

    const byId = identifiers('tags', list.body.data[0].id)
    expect((await owner.post(tagsOf(second), byId)).status).toBe(204)
    expect((await owner.post(tagsOf(second), { data: [...byId.data, ...tags('c').data] })).status).toBe(204)
    const both = await owner.get(tagsOf(second))
    expect(names(both)).toEqual(['a:1', 'c'])
    expect(both.body.data[0].attributes['instance-count']).toBe(2)
    const shown = async () =>
      (await owner.get(`/api/v2/workspaces/${second.id}`)).body.data.attributes['tag-names']
    expect(await shown()).toEqual(['a:1', 'c'])

    const removal = { data: [...byId.data, ...tags('none', 'b').data] }
    expect(await owner.delete(tagsOf(second), removal)).toMatchObject({ status: 204, text: '' })
    expect(await shown()).toEqual(['c'])
    expect((await owner.delete(tagsOf(second), tags('c'))).status).toBe(204)
    expect(await shown()).toEqual([])
    expect(names(await owner.get(tagsOf(first)))).toEqual(['a:1', 'b'])
  })

  test('come with a new workspace', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path, {}, { tags: tags('net', 'prod') })
    expect(workspace.attributes['tag-names']).toEqual(['net', 'prod'])
    expect(names(await owner.get(tagsOf(workspace)))).toEqual(['net', 'prod'])
  })

  test('come in pages', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path, {}, { tags: tags('a', 'b', 'c') })
    for (const list of [tagsOf(workspace), `${path}/tags`]) {
      const second = await owner.get(`${list}?page[number]=2&page[size]=2`)
      expect(names(second)).toEqual(['c'])
      expect(second.body.meta.pagination).toMatchObject({
        'total-count': 3,
        'prev-page': 1,
        'next-page': null,
      })
      expect(await owner.get(`${list}?page[number]=9`)).toMatchObject({ status: 200, body: { data: [] } })
    }
  })

  test('of an organization are listed, searched, and deleted everywhere', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path, {}, { tags: tags('net', 'prod') })
    const other = await newWorkspace(owner, path, {}, { tags: tags('net_2', 'prod') })
    const list = `${path}/tags`
    const all = await owner.get(list)
    expect(names(all)).toEqual(['net', 'net_2', 'prod'])
    const counts = all.body.data.map((item: { attributes: object }) => item.attributes)
    expect(counts.map((item: Record<string, number>) => item['instance-count'])).toEqual([1, 1, 2])
    expect(names(await owner.get(`${list}?q=NET`))).toEqual(['net', 'net_2'])
    expect(names(await owner.get(`${list}?filter[exclude][taggable][id]=${workspace.id}`))).toEqual(['net_2'])

    const [net, , prod] = all.body.data as { id: string }[]
    const gone = identifiers('tags', String(net?.id), String(prod?.id))
    expect((await owner.delete(list, identifiers('tags', String(net?.id), 'tag-none'))).status).toBe(404)
    expect(names(await owner.get(list))).toHaveLength(3)
    expect(await owner.delete(list, gone)).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(list, gone)).status).toBe(404)
    expect(names(await owner.get(list))).toEqual(['net_2'])
    expect(names(await owner.get(tagsOf(workspace)))).toEqual([])
    expect(names(await owner.get(tagsOf(other)))).toEqual(['net_2'])
  })

  test('are put on several workspaces at once', async () => {
    const { owner, path } = await server.organization()
    const [first, second] = [
      await newWorkspace(owner, path, {}, { tags: tags('net') }),
      await newWorkspace(owner, path),
    ]
    const [{ id }] = (await owner.get(`${path}/tags`)).body.data
    const address = `/api/v2/tags/${id}/relationships/workspaces`
    const answer = await owner.post(address, identifiers('workspaces', first.id, second.id))
    expect(answer).toMatchObject({ status: 204, text: '' })
    for (const workspace of [first, second])
      expect(names(await owner.get(tagsOf(workspace)))).toEqual(['net'])

    const elsewhere = await server.organization()
    const theirs = await newWorkspace(elsewhere.owner, elsewhere.path)
    const refused = await owner.post(address, identifiers('workspaces', first.id, theirs.id, 'ws-none'))
    expect(violations(refused)).toEqual([
      { pointer: '/data/1/id', detail: 'Workspace does not exist' },
      { pointer: '/data/2/id', detail: 'Workspace does not exist' },
    ])
    expect(names(await elsewhere.owner.get(tagsOf(theirs)))).toEqual([])
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const wrong = await owner.post(tagsOf(workspace), tags('a b', 'x'.repeat(256), '', 'é', 'x'.repeat(255)))
    expect(violations(wrong)).toEqual([
      { pointer: '/data/0/attributes/name', detail: expect.stringContaining('Name is invalid: letters') },
      { pointer: '/data/1/attributes/name', detail: expect.stringContaining('too long') },
      { pointer: '/data/2/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/3/attributes/name', detail: expect.stringContaining('Name is invalid') },
    ])
    const elsewhere = await server.organization()
    await newWorkspace(elsewhere.owner, elsewhere.path, {}, { tags: tags('secret') })
    const [theirs] = (await elsewhere.owner.get(`${elsewhere.path}/tags`)).body.data
    const unknown = await owner.post(tagsOf(workspace), {
      data: [{ type: 'tags' }, { type: 'tags', id: theirs.id }, { type: 'tags', id: '', attributes: {} }],
    })
    expect(violations(unknown)).toEqual([
      { pointer: '/data/0/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/1/id', detail: 'Tag does not exist' },
      { pointer: '/data/2/attributes/name', detail: "Name can't be blank" },
    ])
    expect(names(await owner.get(tagsOf(workspace)))).toEqual([])
  })

  test('race: one name makes one tag', async () => {
    const { owner, path } = await server.organization()
    const workspaces = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        owner.post(tagsOf(workspaces[index % 2] as { id: string }), tags('race')),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(204))
    const [tag, ...others] = (await owner.get(`${path}/tags`)).body.data
    expect([tag.attributes['instance-count'], others]).toEqual([2, []])
  })

  test('open to those with the right only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path, {}, { tags: tags('net') })
    const [{ id }] = (await owner.get(`${path}/tags`)).body.data
    const statuses = async (client: Client) => [
      (await client.get(`${path}/tags`)).status,
      (await client.get(tagsOf(workspace))).status,
      (await client.post(tagsOf(workspace), {})).status,
      (await client.delete(tagsOf(workspace), {})).status,
      (await client.post(`/api/v2/tags/${id}/relationships/workspaces`, {})).status,
      (await client.delete(`${path}/tags`, {})).status,
    ]
    expect(await statuses(await server.user())).toEqual([404, 404, 404, 404, 404, 404])
    expect(await statuses(await server.member(organization))).toEqual([200, 404, 404, 404, 404, 404])
    const reader = await server.member(organization, ['read-workspaces'])
    expect(await statuses(reader)).toEqual([200, 200, 404, 404, 404, 404])
    const manager = await server.teamToken(organization, ['manage-workspaces'])
    expect(await statuses(manager)).toEqual([200, 200, 422, 422, 422, 422])
    expect(await statuses(await server.organizationToken(organization))).toEqual([
      200, 200, 422, 422, 422, 422,
    ])
    expect((await owner.get(tagsOf({ id: 'ws-none' }))).status).toBe(404)
    expect((await owner.post('/api/v2/tags/tag-none/relationships/workspaces', {})).status).toBe(404)
  })
})
