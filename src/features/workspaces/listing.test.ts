import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Answer, expectStatus, onEachDialect } from '../../../test/harness.ts'
import { bindings, document, inProject, newProject, newWorkspace, tags } from '../../../test/resources.ts'

const names = (answer: Answer): string[] =>
  answer.body.data.map((item: { attributes: { name: string } }) => item.attributes.name)

onEachDialect('workspaces in lists', (server) => {
  test('are ordered by name, searched and sorted, in pages', async () => {
    const { owner, path } = await server.organization()
    const list = `${path}/workspaces`
    for (const name of ['app-prod', 'net_dev', 'app-dev']) {
      await newWorkspace(owner, path, { name })
      await setTimeout(2)
    }
    const project = await newProject(owner, path)
    await newWorkspace(owner, path, { name: 'web-dev' }, inProject(project.id))
    const found = async (query: string) => names(await owner.get(`${list}?${query}`))
    expect(await found('')).toEqual(['app-dev', 'app-prod', 'net_dev', 'web-dev'])
    expect(await found('sort=nonsense')).toEqual(await found(''))
    expect(await found('sort=-name')).toEqual(['web-dev', 'net_dev', 'app-prod', 'app-dev'])
    expect(await found('sort=latest-change-at')).toEqual(['app-prod', 'net_dev', 'app-dev', 'web-dev'])
    expect(await found('search[name]=APP-')).toEqual(['app-dev', 'app-prod'])
    expect(await found('search[name]=p_p')).toEqual([])
    expect(await found('search[wildcard-name]=*-dev')).toEqual(['app-dev', 'web-dev'])
    expect(await found('search[wildcard-name]=app*')).toEqual(['app-dev', 'app-prod'])
    expect(await found('search[wildcard-name]=app')).toEqual([])
    expect(await found(`filter[project][id]=${project.id}`)).toEqual(['web-dev'])

    const second = await owner.get(`${list}?page[number]=2&page[size]=3`)
    expect(names(second)).toEqual(['web-dev'])
    expect(second.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 3,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 4,
    })
    const beyond = await owner.get(`${list}?page[number]=5&page[size]=3`)
    expect(beyond).toMatchObject({ status: 200, body: { data: [] } })
    expect(beyond.body.meta.pagination['total-count']).toBe(4)
  })

  test('are found by flat tags, by keys of bindings, and by bindings', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path, { 'tag-bindings': bindings({ env: 'dev', team: 'net' }) })
    const make = (name: string, relationships: object) => newWorkspace(owner, path, { name }, relationships)
    await make('bound', { 'tag-bindings': bindings({ env: 'prod', net: undefined }) })
    await make('flat', { tags: tags('net', 'app:web') })
    await make('inheriting', inProject(project.id))
    await make('overriding', { ...inProject(project.id), 'tag-bindings': bindings({ env: 'prod' }) })
    const found = async (query: string) => names(await owner.get(`${path}/workspaces?${query}`))
    expect(await found('search[tags]=net')).toEqual(['bound', 'flat'])
    expect(await found('search[tags]=net,app:web')).toEqual(['flat'])
    expect(await found('search[tags]=env')).toEqual(['bound', 'inheriting', 'overriding'])
    expect(await found('search[exclude-tags]=net')).toEqual(['inheriting', 'overriding'])
    expect(await found('search[tags]=team&search[exclude-tags]=none')).toEqual(['inheriting', 'overriding'])

    const tagged = (index: number, key: string, value = '') =>
      `filter[tagged][${index}][key]=${key}&filter[tagged][${index}][value]=${value}`
    expect(await found(tagged(0, 'env'))).toEqual(['bound', 'inheriting', 'overriding'])
    expect(await found(tagged(0, 'env', 'dev'))).toEqual(['inheriting'])
    expect(await found(tagged(0, 'env', 'prod'))).toEqual(['bound', 'overriding'])
    expect(await found(`${tagged(0, 'env', 'prod')}&${tagged(1, 'team')}`)).toEqual(['overriding'])
    expect(await found(`${tagged(0, 'env', 'dev')}&search[tags]=env&TagBindings={+env+dev}`)).toEqual([
      'inheriting',
    ])
  })

  test('show as tag names their flat tags and the keys bound without a value', async () => {
    const { owner, path } = await server.organization()
    const relationships = { tags: tags('b', 'c'), 'tag-bindings': bindings({ a: '', b: '', d: 'x' }) }
    const { id, attributes } = await newWorkspace(owner, path, {}, relationships)
    expect(attributes['tag-names']).toEqual(['a', 'b', 'c'])
    await owner.patch(
      `/api/v2/workspaces/${id}`,
      document('workspaces', {}, { 'tag-bindings': bindings({}) }),
    )
    expect((await owner.get(`/api/v2/workspaces/${id}`)).body.data.attributes['tag-names']).toEqual([
      'b',
      'c',
    ])
  })

  test('bring along what include asks for', async () => {
    const { owner, path, name: organization } = await server.organization()
    const project = await newProject(owner, path, { 'tag-bindings': bindings({ env: 'dev' }) })
    const { id } = await newWorkspace(
      owner,
      path,
      { name: 'app' },
      { ...inProject(project.id), 'tag-bindings': bindings({ team: 'net' }) },
    )
    await owner.post(`/api/v2/workspaces/${id}/actions/lock`)
    const wanted = 'include=organization,project,locked_by,effective_tag_bindings,current_run.plan,outputs'
    for (const address of [`/api/v2/workspaces/${id}`, `${path}/workspaces/app`, `${path}/workspaces`]) {
      const { body: answer } = expectStatus(await owner.get(`${address}?${wanted}`), 200)
      const workspace = [answer.data].flat()[0]
      const bound = workspace.relationships['effective-tag-bindings'].data
      expect(bound).toHaveLength(2)
      const included = answer.included.map(({ id: included, type }: { id: string; type: string }) => ({
        id: included,
        type,
      }))
      expect(included).toEqual(
        expect.arrayContaining([
          { id: organization, type: 'organizations' },
          { id: project.id, type: 'projects' },
          { id: owner.id, type: 'users' },
          ...bound,
        ]),
      )
      expect(included).toHaveLength(5)
      expect(
        answer.included.filter((item: { type: string }) => item.type === 'effective-tag-bindings'),
      ).toEqual([
        { ...bound[0], attributes: { key: 'team', value: 'net' } },
        {
          ...bound[1],
          attributes: { key: 'env', value: 'dev' },
          relationships: { 'inherited-from': { data: { id: project.id, type: 'projects' } } },
          links: { 'inherited-from': `/api/v2/projects/${project.id}` },
        },
      ])
      const bad = await owner.get(`${address}?include=organization,nonsense`)
      expect(bad.status).toBe(400)
      expect(bad.body.errors[0]).toMatchObject({
        detail: expect.stringContaining('include parameter'),
        source: { parameter: 'include' },
      })
    }
    expect((await owner.get(`/api/v2/workspaces/${id}`)).body.included).toBeUndefined()
  })
})
