import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestServer, violations } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'

const identifiers = (...ids: string[]) => ({ data: ids.map((id) => ({ id, type: 'workspaces' })) })

async function prepare(server: TestServer) {
  const organization = await server.organization()
  const { owner, path } = organization
  const made = await Promise.all(['p', 'a', 'b', 'c'].map((name) => newWorkspace(owner, path, { name })))
  const [producer = '', a = '', b = '', c = ''] = made.map(({ id }) => id as string)
  const url = `/api/v2/workspaces/${producer}/relationships/remote-state-consumers`
  const ids = async (query = '') => {
    const { data } = expectStatus(await owner.get(url + query), 200).body
    return data.map(({ id }: { id: string }) => id)
  }
  return { ...organization, producer, a, b, c, url, ids }
}

onEachDialect('remote state consumers', (server) => {
  test('are added, replaced and removed, and listed as workspaces', async () => {
    const { owner, url, ids, a, b, c } = await prepare(server)
    expect(await ids()).toEqual([])
    expect(await owner.post(url, identifiers(b, a))).toMatchObject({ status: 204, text: '' })
    expect(await owner.post(url, identifiers(a))).toMatchObject({ status: 204 })
    expect(await ids()).toEqual([a, b])
    expect(await ids('?page[size]=1&page[number]=2')).toEqual([b])
    expect(await ids('?page[number]=3')).toEqual([])
    const { data } = (await owner.get(url)).body
    expect(data[0]).toMatchObject({ type: 'workspaces', attributes: { name: 'a' } })
    expect(await owner.patch(url, identifiers(c))).toMatchObject({ status: 204 })
    expect(await ids()).toEqual([c])
    expect(await owner.delete(url, identifiers(c, a))).toMatchObject({ status: 204 })
    expect(await owner.patch(url, identifiers(a, b))).toMatchObject({ status: 204 })
    expect(await owner.patch(url, identifiers())).toMatchObject({ status: 204 })
    expect(await ids()).toEqual([])
  })

  test('are workspaces of the same organization: all of them, or none', async () => {
    const { owner, url, ids, a } = await prepare(server)
    const elsewhere = await server.organization()
    const foreign = await newWorkspace(elsewhere.owner, elsewhere.path)
    for (const how of ['post', 'patch'] as const) {
      const refused = await owner[how](url, identifiers(a, foreign.id, 'ws-6fMPHqWY3yLzK2vT'))
      expect(violations(refused)).toEqual([
        { pointer: '/data/1/id', detail: 'Workspace does not exist' },
        { pointer: '/data/2/id', detail: 'Workspace does not exist' },
      ])
    }
    expect(await ids()).toEqual([])
    expect(await owner.post(url, { data: [{ id: a, type: 'projects' }] })).toMatchObject({ status: 422 })
    expect(await owner.send('POST', url, 'x', { 'content-type': 'text/plain' })).toMatchObject({
      status: 415,
    })
    expect(await owner.send('POST', url, '{')).toMatchObject({ status: 400 })
  })

  test('are changed by those who manage workspaces, and seen by those who see them', async () => {
    const organization = await prepare(server)
    const { url, a } = organization
    const reader = await server.member(organization, ['read-workspaces'])
    expect(await reader.get(url)).toMatchObject({ status: 200 })
    for (const client of [reader, await server.member(organization), await server.user()]) {
      for (const method of ['POST', 'PATCH', 'DELETE'])
        expect(await client.send(method, url, identifiers(a))).toMatchObject({ status: 404 })
    }
    expect(await (await server.user()).get(url)).toMatchObject({ status: 404 })
    expect(await server.nobody.post(url, identifiers(a))).toMatchObject({ status: 401 })
  })

  test('race: of two replacements at once one counts', async () => {
    const { owner, url, ids, a, b, c } = await prepare(server)
    const answers = await Promise.all(
      [identifiers(a, b), identifiers(c), identifiers(a, b), identifiers(c)].map((body) =>
        owner.patch(url, body),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    expect([[a, b], [c]]).toContainEqual(await ids())
  })
})
