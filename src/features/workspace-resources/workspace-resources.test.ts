import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { saveState, stateResource } from '../../../test/states.ts'

onEachDialect('resources of workspaces', (server) => {
  test('are those of the current state, each with the version that changed it last', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    const list = async (query = '') => owner.get(`/api/v2/workspaces/${id}/resources${query}`)
    expect(await list()).toMatchObject({ status: 200, body: { data: [] } })
    const data = { ...stateResource('read'), mode: 'data' }
    const deposed = { deposed: '0a1b', schema_version: 0, attributes: {} }
    const many = stateResource('many', ['a', 'b'], { module: 'module.net' })
    const first = await saveState(owner, id, {
      serial: 1,
      resources: [stateResource('one'), { ...many, instances: [...many.instances, deposed] }, data],
    })
    const before = expectStatus(await list(), 200).body
    expect(before.data).toHaveLength(3)
    expect(before.data[0]).toEqual({
      id: expect.stringMatching(/^wsr-/),
      type: 'resources',
      attributes: {
        address: 'module.net.terraform_data.many["a"]',
        name: 'many',
        'name-index': 'a',
        module: 'module.net',
        provider: 'builtin/terraform',
        'provider-type': 'terraform_data',
        'created-at': expect.stringMatching(/Z$/),
        'updated-at': expect.stringMatching(/Z$/),
        'modified-by-state-version-id': first.id,
      },
    })
    const changed = stateResource('one', [], {
      instances: [{ schema_version: 0, attributes: { id: 'new' } }],
    })
    const second = await saveState(owner, id, {
      serial: 2,
      resources: [
        changed,
        stateResource('many', ['a'], { module: 'module.net' }),
        stateResource('added', [3]),
      ],
    })
    const after = (await list()).body.data as { id: string; attributes: Record<string, string> }[]
    expect(
      after.map(({ attributes }) => [attributes['address'], attributes['modified-by-state-version-id']]),
    ).toEqual([
      ['module.net.terraform_data.many["a"]', first.id],
      ['terraform_data.added[3]', second.id],
      ['terraform_data.one', second.id],
    ])
    expect(after[2]?.id).toBe(before.data[2].id)
    const workspace = await owner.get(`/api/v2/workspaces/${id}`)
    expect(workspace.body.data.attributes['resource-count']).toBe(3)
  })

  test('are searched, sorted and paged', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    await saveState(owner, id, {
      resources: [stateResource('a'), stateResource('b', [0, 1]), stateResource('c')],
    })
    const names = async (query: string) => {
      const { data } = expectStatus(await owner.get(`/api/v2/workspaces/${id}/resources?${query}`), 200).body
      return data.map(({ attributes }: { attributes: { address: string } }) => attributes.address.slice(15))
    }
    expect(await names('q=b[')).toEqual(['b[0]', 'b[1]'])
    expect(await names('sort=name:desc')).toEqual(['c', 'b[0]', 'b[1]', 'a'])
    expect(await names('page[size]=3&page[number]=2')).toEqual(['c'])
    expect(await names('page[number]=7')).toEqual([])
    expect(await owner.get(`/api/v2/workspaces/${id}/resources?sort=color:asc`)).toMatchObject({
      status: 400,
    })
    const stranger = await server.user()
    expect(await stranger.get(`/api/v2/workspaces/${id}/resources?sort=color:asc`)).toMatchObject({
      status: 404,
    })
  })

  test('of a large state are read beside the requests', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    const indexes = Array.from({ length: 3000 }, (_, n) => n)
    const version = await saveState(owner, id, { resources: [stateResource('many', indexes)] })
    expect(version.attributes.size).toBeGreaterThan(256 * 1024)
    const list = await owner.get(`/api/v2/workspaces/${id}/resources`)
    expect(list.body.meta.pagination['total-count']).toBe(3000)
  })
})
