import { expect, test } from 'vitest'
import { type Answer, type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { bindings, document, inProject, newProject, newWorkspace } from '../../../test/resources.ts'

/** `key=value` of each binding of an answer, in its order. */
const pairs = (answer: Answer): string[] =>
  answer.body.data.map(
    ({ attributes }: { attributes: { key: string; value: string } }) =>
      `${attributes.key}=${attributes.value}`,
  )

const onRelationship = (body: ReturnType<typeof bindings>) => ({ 'tag-bindings': body })

onEachDialect('tag bindings', (server) => {
  /** The address of a new project and of a new workspace in the default project. */
  const makeBoth = async (owner: Client, path: string) => [
    `/api/v2/projects/${(await newProject(owner, path)).id}`,
    `/api/v2/workspaces/${(await newWorkspace(owner, path)).id}`,
  ]

  test('are added and changed by key, in the order of the request', async () => {
    const { owner, path } = await server.organization()
    for (const address of await makeBoth(owner, path)) {
      const added = await owner.patch(`${address}/tag-bindings`, bindings({ foo: 'bar', baz: undefined }))
      expect(added.status).toBe(200)
      expect(added.body.meta).toBeUndefined()
      expect(added.body.data[0]).toEqual({
        id: expect.stringMatching(/^tb-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'tag-bindings',
        attributes: { key: 'foo', value: 'bar', 'created-at': expect.stringMatching(/Z$/) },
        links: { target: address },
      })
      expect(pairs(added)).toEqual(['foo=bar', 'baz='])
      const changed = await owner.patch(`${address}/tag-bindings`, bindings({ new: '1', foo: 'changed' }))
      expect(pairs(changed)).toEqual(['new=1', 'foo=changed'])
      expect(changed.body.data[1].id).toBe(added.body.data[0].id)
      for (const list of [`${address}/tag-bindings`, `${address}/relationships/tag-bindings`]) {
        expect(pairs(await owner.get(list))).toEqual(['foo=changed', 'baz=', 'new=1'])
      }
      expect((await owner.patch(`${address}/tag-bindings`, { data: [] })).body).toEqual({ data: [] })
      expect(pairs(await owner.get(`${address}/tag-bindings`))).toHaveLength(3)
    }
  })

  test('are added by POST and replaced by PATCH of the relationship', async () => {
    const { owner, path } = await server.organization()
    for (const address of await makeBoth(owner, path)) {
      const relationship = `${address}/relationships/tag-bindings`
      expect(await owner.post(relationship, bindings({ a: '1', b: '2' }))).toMatchObject({
        status: 204,
        text: '',
      })
      expect((await owner.post(relationship, bindings({ c: '3' }))).status).toBe(204)
      expect(pairs(await owner.get(relationship))).toEqual(['a=1', 'b=2', 'c=3'])
      const [, kept] = (await owner.get(relationship)).body.data
      expect(await owner.patch(relationship, bindings({ d: '4', b: '5' }))).toMatchObject({
        status: 204,
        text: '',
      })
      const after = await owner.get(relationship)
      expect(pairs(after)).toEqual(['d=4', 'b=5'])
      expect(after.body.data[1].id).toBe(kept.id)
      expect((await owner.patch(relationship, { data: [] })).status).toBe(204)
      expect((await owner.get(relationship)).body).toEqual({ data: [] })
    }
  })

  test('are replaced with the project or workspace they are on', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path, onRelationship(bindings({ a: '1' })))
    const workspace = await newWorkspace(owner, path, {}, onRelationship(bindings({ a: '1' })))
    const byName = `${path}/workspaces/${workspace.attributes.name}`
    for (const [type, list, address] of [
      ['projects', `/api/v2/projects/${project.id}`, `/api/v2/projects/${project.id}`],
      ['workspaces', `/api/v2/workspaces/${workspace.id}`, `/api/v2/workspaces/${workspace.id}`],
      ['workspaces', `/api/v2/workspaces/${workspace.id}`, byName],
    ] as const) {
      const change = async (relationships: object) =>
        expectStatus(await owner.patch(address, document(type, {}, relationships)), 200)
      await change(onRelationship(bindings({ a: '1', b: '2' })))
      await change({})
      expect(pairs(await owner.get(`${list}/tag-bindings`))).toEqual(['a=1', 'b=2'])
      await change(onRelationship(bindings({ c: '' })))
      expect(pairs(await owner.get(`${list}/tag-bindings`))).toEqual(['c='])
      await change(onRelationship(bindings({})))
      expect(pairs(await owner.get(`${list}/tag-bindings`))).toEqual([])
    }
  })

  test('of a project are inherited by its workspaces, which may override them', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path, onRelationship(bindings({ env: 'dev', team: 'net' })))
    const relationships = { ...inProject(project.id), ...onRelationship(bindings({ env: 'prod', own: '' })) }
    const workspace = await newWorkspace(owner, path, {}, relationships)
    const effective = `/api/v2/workspaces/${workspace.id}/effective-tag-bindings`
    const answer = await owner.get(effective)
    const id = expect.stringMatching(/^tb-/)
    const type = 'effective-tag-bindings'
    expect(answer.body).toEqual({
      data: [
        { id, type, attributes: { key: 'env', value: 'prod' } },
        { id, type, attributes: { key: 'own', value: '' } },
        {
          id,
          type,
          attributes: { key: 'team', value: 'net' },
          relationships: { 'inherited-from': { data: { id: project.id, type: 'projects' } } },
          links: { 'inherited-from': `/api/v2/projects/${project.id}` },
        },
      ],
    })
    const ofProject = await owner.get(`/api/v2/projects/${project.id}/effective-tag-bindings`)
    expect(pairs(ofProject)).toEqual(['env=dev', 'team=net'])
    expect(ofProject.body.data.some((item: object) => 'links' in item)).toBe(false)
    await owner.patch(`/api/v2/workspaces/${workspace.id}/relationships/tag-bindings`, { data: [] })
    expect(pairs(await owner.get(effective))).toEqual(['env=dev', 'team=net'])
  })

  test('are at most ten', async () => {
    const { owner, path } = await server.organization()
    const many = (count: number, prefix = 'key') =>
      bindings(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, ''])))
    for (const address of await makeBoth(owner, path)) {
      const add = (body: object) => owner.patch(`${address}/tag-bindings`, body)
      const refused = [{ pointer: '/data', detail: expect.stringContaining('cannot exceed 10') }]
      expect(violations(await add(many(11)))).toEqual(refused)
      expect(violations(await owner.patch(`${address}/relationships/tag-bindings`, many(11)))).toEqual(
        refused,
      )
      expectStatus(await add(many(10)), 200)
      expect(violations(await add(many(1, 'more')))).toEqual(refused)
      expect((await add(many(2))).status).toBe(200)
      expect(pairs(await owner.get(`${address}/tag-bindings`))).toHaveLength(10)
    }
  })

  test('race: never more than ten, and never two of one key', async () => {
    const { owner, path } = await server.organization()
    for (const address of await makeBoth(owner, path)) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          owner.patch(`${address}/tag-bindings`, bindings({ [`key${index}`]: '', same: String(index) })),
        ),
      )
      const statuses = answers.map((answer) => answer.status).sort()
      expect(statuses).toEqual([...Array(9).fill(200), ...Array(3).fill(422)])
      expect(pairs(await owner.get(`${address}/tag-bindings`))).toHaveLength(10)
    }
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const binding = (key: unknown, value: unknown = '') => ({
      type: 'tag-bindings',
      attributes: { key, value },
    })
    const data = [
      binding('a/b'),
      binding('hc:x'),
      binding('hcp:x'),
      binding('x'.repeat(129)),
      binding('ok', 'x'.repeat(257)),
      binding(''),
      { type: 'tags', attributes: { key: 'a' } },
      { type: 'tag-bindings' },
      binding('Ok _.=+-@:1', null),
    ]
    const at = (index: number, rest = 'attributes/key') => `/${index}/${rest}`
    const wrong = [0, 1, 2, 3].map((index) => at(index))
    const expected = [...wrong, at(4, 'attributes/value'), at(5), at(6, 'type'), at(7)]
    for (const address of await makeBoth(owner, path)) {
      for (const [method, where] of [
        ['PATCH', `${address}/tag-bindings`],
        ['POST', `${address}/relationships/tag-bindings`],
        ['PATCH', `${address}/relationships/tag-bindings`],
      ] as const) {
        const answer = await owner.send(method, where, { data })
        expect(answer.status).toBe(422)
        expect(violations(answer).map(({ pointer }) => pointer)).toEqual(
          expected.map((each) => `/data${each}`),
        )
        const twice = await owner.send(method, where, {
          data: [binding('a'), binding('b'), binding('a', '2')],
        })
        expect(violations(twice)).toEqual([
          { pointer: '/data/2/attributes/key', detail: 'Key a is given more than once' },
        ])
        expect((await owner.send(method, where, { data: [data[8]] })).status).toBeLessThan(300)
        expect((await owner.send(method, where, {})).status).toBe(422)
      }
      const [, , , type] = address.split('/') as [string, string, string, string]
      const update = await owner.patch(
        address,
        document(type, {}, { 'tag-bindings': { data: [binding('a'), binding('a')] } }),
      )
      expect(violations(update).map(({ pointer }) => pointer)).toEqual([
        '/data/relationships/tag-bindings/data/1/attributes/key',
      ])
    }
  })

  test('open to those with the right only', async () => {
    const organization = await server.organization()
    const [project, workspace] = (await makeBoth(organization.owner, organization.path)) as [string, string]
    const statuses = async (client: Client, address: string) => [
      (await client.get(`${address}/tag-bindings`)).status,
      (await client.get(`${address}/relationships/tag-bindings`)).status,
      (await client.get(`${address}/effective-tag-bindings`)).status,
      (await client.patch(`${address}/tag-bindings`, {})).status,
      (await client.post(`${address}/relationships/tag-bindings`, {})).status,
      (await client.patch(`${address}/relationships/tag-bindings`, {})).status,
    ]
    const nothing = Array(6).fill(404)
    const reading = [200, 200, 200, 404, 404, 404]
    const writing = [200, 200, 200, 422, 422, 422]
    for (const client of [await server.user(), await server.member(organization)]) {
      for (const address of [project, workspace]) expect(await statuses(client, address)).toEqual(nothing)
    }
    const reader = await server.member(organization, ['read-workspaces'])
    const manager = await server.teamToken(organization, ['manage-workspaces'])
    expect(await statuses(reader, project)).toEqual(reading)
    expect(await statuses(reader, workspace)).toEqual(reading)
    expect(await statuses(manager, project)).toEqual(reading)
    expect(await statuses(manager, workspace)).toEqual(writing)
    const projectManager = await server.member(organization, ['manage-projects'])
    expect(await statuses(projectManager, project)).toEqual(writing)
    expect(await statuses(await server.organizationToken(organization), workspace)).toEqual(writing)
    expect(await statuses(organization.owner, '/api/v2/workspaces/ws-none')).toEqual(nothing)
    expect(await statuses(organization.owner, '/api/v2/projects/prj-none')).toEqual(nothing)
  })
})
