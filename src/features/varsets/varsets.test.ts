import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import {
  document,
  inProject,
  newProject,
  newVariable,
  newVarset,
  newVarsetVariable,
  newWorkspace,
} from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('varsets', attributes, relationships)
const identifiers = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ id, type })) })
const owned = (id: string, type = 'projects') => ({ parent: { data: { id, type } } })

interface Named {
  attributes: { name: string }
}
const names = (answer: { body: { data: Named[] } }) =>
  answer.body.data.map(({ attributes }) => attributes.name)

onEachDialect('variable sets', (server) => {
  test('are created, shown, listed, changed and deleted', async () => {
    const { owner, path, name } = await server.organization()
    const created = expectStatus(
      await owner.post(
        `${path}/varsets`,
        body({ name: 'Credentials', description: 'of AWS', global: false }),
      ),
      200,
    ).body.data
    const organization = { data: { id: name, type: 'organizations' } }
    expect(created).toEqual({
      id: expect.stringMatching(/^varset-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'varsets',
      attributes: {
        name: 'Credentials',
        description: 'of AWS',
        global: false,
        priority: false,
        'created-at': expect.stringMatching(/Z$/),
        'updated-at': created.attributes['created-at'],
        'var-count': 0,
        'workspace-count': 0,
        'project-count': 0,
      },
      relationships: {
        organization,
        parent: organization,
        vars: { data: [] },
        workspaces: { data: [] },
        projects: { data: [] },
      },
      links: { self: `/api/v2/varsets/${created.id}` },
    })
    const { self } = created.links
    expect((await owner.get(self)).body).toEqual({ data: created })
    expect((await owner.get(`${path}/varsets`)).body.data).toEqual([created])

    const changes = { name: 'Keys', description: null, global: true, priority: true }
    const changed = expectStatus(await owner.patch(self, body(changes)), 200).body.data
    expect(changed.attributes).toEqual({
      ...created.attributes,
      ...changes,
      description: '',
      'updated-at': expect.any(String),
    })
    expect(changed.attributes['updated-at'] > created.attributes['updated-at']).toBe(true)
    const replaced = await owner.send('PUT', self, body({ name: 'Put' }))
    expect(replaced.body.data.attributes).toMatchObject({ name: 'Put', global: true, priority: true })

    expect(await owner.delete(self)).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(self)).status).toBe(404)
    expect((await owner.get(self)).status).toBe(404)
  })

  test('are created with everything that belongs to them, which comes along', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const project = await newProject(owner, path)
    const set = await newVarset(
      owner,
      path,
      { global: undefined },
      {
        parent: { data: null },
        workspaces: identifiers('workspaces', workspace.id),
        projects: identifiers('projects', project.id),
        vars: {
          data: [
            { type: 'vars', attributes: { key: 'b', value: '1', category: 'terraform' } },
            { type: 'vars', attributes: { key: 'A', value: 'x', category: 'env', sensitive: true } },
          ],
        },
      },
    )
    expect(set.attributes).toMatchObject({ 'var-count': 2, 'workspace-count': 1, 'project-count': 1 })
    const shown = (await owner.get(`${set.links.self}?include=vars,workspaces,projects`)).body
    expect(shown.data).toEqual(set)
    expect(shown.included.map(({ id, type }: { id: string; type: string }) => ({ id, type }))).toEqual(
      expect.arrayContaining([
        ...set.relationships.vars.data,
        { id: workspace.id, type: 'workspaces' },
        { id: project.id, type: 'projects' },
      ]),
    )
    const values = shown.included.flatMap(
      ({ type, attributes }: { type: string; attributes: { key: string; value: string | null } }) =>
        type === 'vars' ? [[attributes.key, attributes.value]] : [],
    )
    expect(Object.fromEntries(values)).toEqual({ b: '1', A: null })
    const listed = (await owner.get(`${path}/varsets?include=vars`)).body
    expect(listed.included).toHaveLength(2)
    expect((await owner.get(`${set.links.self}?include=stacks`)).status).toBe(400)
  })

  test('come in pages, by name, and are found by a part of it', async () => {
    const { owner, path } = await server.organization()
    for (const name of ['c', 'a', 'b%']) await newVarset(owner, path, { name })
    const second = await owner.get(`${path}/varsets?page[number]=2&page[size]=2`)
    expect(names(second)).toEqual(['c'])
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'prev-page': 1, 'next-page': null })
    const beyond = await owner.get(`${path}/varsets?page[number]=9&page[size]=2`)
    expect(beyond.body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 9, 'total-count': 3 } },
    })
    expect(names(await owner.get(`${path}/varsets?q=B`))).toEqual(['b%'])
    expect(names(await owner.get(`${path}/varsets?q=%25`))).toEqual(['b%'])
    expect((await owner.get(`${path}/varsets?q=none`)).body.meta.pagination['total-count']).toBe(0)
  })

  test('are listed for a project and for a workspace', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    const other = await newWorkspace(owner, path)
    const onWorkspace = { workspaces: identifiers('workspaces', workspace.id) }
    for (const [name, attributes, relationships] of [
      ['1 global', { global: true }, {}],
      ['2 project', {}, { projects: identifiers('projects', project.id) }],
      ['3 workspace', {}, onWorkspace],
      ['4 owned', {}, owned(project.id)],
      ['5 owned, workspace', {}, { ...owned(project.id), ...onWorkspace }],
      ['6 other', {}, { workspaces: identifiers('workspaces', other.id) }],
    ] as const) {
      await newVarset(owner, path, { name, ...attributes }, relationships)
    }
    const ofProject = `/api/v2/projects/${project.id}/varsets`
    const ofWorkspace = `/api/v2/workspaces/${workspace.id}/varsets`
    expect(names(await owner.get(ofProject))).toEqual([
      '1 global',
      '2 project',
      '4 owned',
      '5 owned, workspace',
    ])
    expect(names(await owner.get(ofWorkspace))).toEqual([
      '1 global',
      '2 project',
      '3 workspace',
      '5 owned, workspace',
    ])
    expect(names(await owner.get(`/api/v2/workspaces/${other.id}/varsets`))).toEqual(['1 global', '6 other'])
    expect(names(await owner.get(`${ofWorkspace}?q=WORK&page[size]=1&page[number]=2`))).toEqual([
      '5 owned, workspace',
    ])
    expect(names(await owner.get(`${ofProject}?q=owned&include=workspaces`))).toHaveLength(2)
  })

  test('are given to workspaces and projects, and taken away', async () => {
    const { owner, path } = await server.organization()
    const set = await newVarset(owner, path)
    const workspaces = [(await newWorkspace(owner, path)).id, (await newWorkspace(owner, path)).id].sort()
    const projects = [(await newProject(owner, path)).id, (await newProject(owner, path)).id].sort()
    for (const [type, [first = '', second = '']] of Object.entries({ workspaces, projects })) {
      const relationship = `${set.links.self}/relationships/${type}`
      const have = async () => (await owner.get(set.links.self)).body.data.relationships[type].data
      expect(await owner.post(relationship, identifiers(type, first, first))).toMatchObject({ status: 204 })
      expect((await owner.post(relationship, identifiers(type, first, second))).status).toBe(204)
      expect(await have()).toEqual(identifiers(type, first, second).data)
      expect((await owner.delete(relationship, identifiers(type, first, 'none'))).status).toBe(204)
      expect(await have()).toEqual(identifiers(type, second).data)

      // The Go client sends whole resources.
      const whole = { data: [{ id: first, type, attributes: { name: 'x' }, relationships: {} }] }
      expect((await owner.post(relationship, whole)).status).toBe(204)

      const replaced = { [type]: identifiers(type, first) }
      const changed = await owner.patch(
        `${set.links.self}?include=${type}`,
        body({ global: false }, replaced),
      )
      expect(changed.body.data.relationships[type].data).toEqual(identifiers(type, first).data)
      expect(changed.body.included).toMatchObject([{ id: first, type }])
      await owner.patch(set.links.self, body({}, { [type]: { data: [] } }))
      expect(await have()).toEqual([])
    }
  })

  test('are given only to what the organization has, to all of it or to nothing', async () => {
    const { owner, path } = await server.organization()
    const other = await server.organization()
    const set = await newVarset(owner, path)
    const mine = await newWorkspace(owner, path)
    const theirs = await newWorkspace(other.owner, other.path)
    const foreign = identifiers('workspaces', mine.id, theirs.id, 'ws-none')
    const refused = await owner.post(`${set.links.self}/relationships/workspaces`, foreign)
    expect(refused.status).toBe(422)
    expect(violations(refused)).toEqual([
      { pointer: '/data/1/id', detail: 'Workspace does not exist' },
      { pointer: '/data/2/id', detail: 'Workspace does not exist' },
    ])
    const changed = await owner.patch(
      set.links.self,
      body({ name: 'changed' }, { projects: identifiers('projects', 'prj-none') }),
    )
    expect(violations(changed)).toEqual([
      { pointer: '/data/relationships/projects/data/0/id', detail: 'Project does not exist' },
    ])
    expect((await owner.get(set.links.self)).body.data).toEqual(set)
    expect(pointers(await owner.post(`${set.links.self}/relationships/workspaces`, { data: [{}] }))).toEqual([
      '/data/0/id',
      '/data/0/type',
    ])
  })

  test('that are global are not given to anything more', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const given = { workspaces: identifiers('workspaces', workspace.id) }
    const set = await newVarset(owner, path, {}, given)
    await owner.patch(set.links.self, body({ global: true }))
    const relationship = `${set.links.self}/relationships/workspaces`
    for (const answer of [
      await owner.post(relationship, given.workspaces),
      await owner.delete(relationship, given.workspaces),
      await owner.post(`${set.links.self}/relationships/projects`, { data: [] }),
    ]) {
      expect(answer.status).toBe(422)
      expect(answer.body.errors[0].detail).toBe('A global variable set applies to every workspace.')
    }
    const back = await owner.patch(set.links.self, body({ global: false }))
    expect(back.body.data.relationships.workspaces).toEqual(given.workspaces)
  })

  test('that belong to a project stay in it, and go with it', async () => {
    const { owner, path, name } = await server.organization()
    const project = await newProject(owner, path)
    const inside = await newWorkspace(owner, path, {}, inProject(project.id))
    const outside = await newWorkspace(owner, path)
    const set = await newVarset(owner, path, {}, owned(project.id))
    expect(set.relationships.parent).toEqual({ data: { id: project.id, type: 'projects' } })

    const relationships = `${set.links.self}/relationships`
    const both = identifiers('workspaces', inside.id, outside.id)
    expect(violations(await owner.post(`${relationships}/workspaces`, both))).toEqual([
      { pointer: '/data/1/id', detail: 'Workspace is not in the project that owns the variable set' },
    ])
    const others = identifiers('projects', project.id, (await newProject(owner, path)).id)
    expect(violations(await owner.post(`${relationships}/projects`, others))).toEqual([
      { pointer: '/data/1/id', detail: 'Project is not the project that owns the variable set' },
    ])
    for (const answer of [
      await owner.post(`${path}/varsets`, body({ name: 'g', global: true }, owned(project.id))),
      await owner.patch(set.links.self, body({ global: true })),
    ]) {
      expect([answer.status, pointers(answer)]).toEqual([422, ['/data/attributes/global']])
    }
    expect((await owner.patch(set.links.self, body({ priority: true }, owned(project.id)))).status).toBe(200)
    const moved = await owner.patch(set.links.self, body({}, owned(name, 'organizations')))
    expect(violations(moved)).toEqual([
      { pointer: '/data/relationships/parent/data/id', detail: 'Parent cannot be changed' },
    ])

    await owner.post(`${relationships}/workspaces`, identifiers('workspaces', inside.id))
    const elsewhere = document('workspaces', {}, inProject(others.data[1]?.id ?? ''))
    expectStatus(await owner.patch(`/api/v2/workspaces/${inside.id}`, elsewhere), 200)
    expect((await owner.get(set.links.self)).body.data.relationships.workspaces.data).toEqual([])
    expect(names(await owner.get(`/api/v2/workspaces/${inside.id}/varsets`))).toEqual([])
    expectStatus(await owner.delete(`/api/v2/projects/${project.id}`), 204)
    expect((await owner.get(set.links.self)).status).toBe(404)
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const empty = await owner.post(`${path}/varsets`, { data: {} })
    expect(violations(empty)).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    const wrong = { name: ' ', description: 3, global: 'yes', priority: null }
    expect(pointers(await owner.post(`${path}/varsets`, body(wrong)))).toEqual(
      ['description', 'global', 'name', 'priority'].map((name) => `/data/attributes/${name}`),
    )
    const other = await server.organization()
    for (const parent of [
      owned('prj-none'),
      owned((await newProject(other.owner, other.path)).id),
      owned(other.name, 'organizations'),
    ]) {
      const answer = await owner.post(`${path}/varsets`, body({ name: 'x' }, parent))
      expect(violations(answer)).toEqual([
        { pointer: '/data/relationships/parent/data/id', detail: 'Parent does not exist' },
      ])
    }
    const vars = { data: [{ type: 'vars', attributes: { key: 'a b', category: 'env' } }, { type: 'vars' }] }
    expect(pointers(await owner.post(`${path}/varsets`, body({ name: 'x' }, { vars })))).toEqual([
      '/data/relationships/vars/data/0/attributes/key',
    ])
    expect((await owner.get(`${path}/varsets`)).body.data).toEqual([])
  })

  test('have a name of their own with their owner', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    await newVarset(owner, path, { name: 'Taken' })
    await newVarset(owner, path, { name: 'Taken' }, owned(project.id))
    const set = await newVarset(owner, path)
    for (const answer of [
      await owner.post(`${path}/varsets`, body({ name: 'taken' })),
      await owner.post(`${path}/varsets`, body({ name: 'taken' }, owned(project.id))),
      await owner.patch(set.links.self, body({ name: 'TAKEN' })),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/name', detail: 'Name has already been taken' },
      ])
    }
  })

  test('race: of many creates of one name exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`${path}/varsets`, body({ name: 'race' }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(422)])
  })

  test('are checked in order: token, resource, media type, body', async () => {
    const { owner, path } = await server.organization()
    const { links } = await newVarset(owner, path)
    const stranger = await server.user()
    expect((await server.nobody.post(`${path}/varsets`, {})).status).toBe(401)
    for (const [method, address] of [
      ['POST', `${path}/varsets`],
      ['PATCH', links.self],
      ['PUT', links.self],
      ['POST', `${links.self}/relationships/workspaces`],
      ['DELETE', `${links.self}/relationships/projects`],
    ] as const) {
      expect((await stranger.send(method, address, 'x', { 'content-type': 'text/plain' })).status).toBe(404)
      expect((await owner.send(method, address, '{}', { 'content-type': 'application/json' })).status).toBe(
        415,
      )
      expect((await owner.send(method, address, '{')).status).toBe(400)
      expect((await owner.send(method, address, '{}')).status).toBe(422)
    }
  })

  test('are read by those who read workspaces, and changed by those who manage what owns them', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const project = await newProject(owner, path)
    const workspace = await newWorkspace(owner, path)
    const ours = await newVarset(owner, path)
    const projects = await newVarset(owner, path, {}, owned(project.id))
    const reads = (client: Client) => [
      client.get(`${path}/varsets`),
      client.get(ours.links.self),
      client.get(`/api/v2/projects/${project.id}/varsets`),
      client.get(`/api/v2/workspaces/${workspace.id}/varsets`),
    ]
    const changes = (client: Client, set: { links: { self: string } }, parent = {}) => [
      client.patch(set.links.self, body({ description: 'changed' })),
      client.post(`${set.links.self}/relationships/projects`, identifiers('projects', project.id)),
      client.delete(`${set.links.self}/relationships/projects`, identifiers('projects', project.id)),
      client.post(`${path}/varsets`, body({ name: `of ${client.token}` }, parent)),
    ]
    const statuses = async (answers: ReturnType<typeof reads>) =>
      (await Promise.all(answers)).map(({ status }) => status)
    for (const client of [await server.user(), await server.member(organization)]) {
      expect(await statuses([...reads(client), ...changes(client, ours)])).toEqual(Array(8).fill(404))
    }
    const reader = await server.member(organization, ['read-workspaces'])
    expect(await statuses(reads(reader))).toEqual(Array(4).fill(200))
    expect(await statuses([...changes(reader, ours), reader.delete(ours.links.self)])).toEqual(
      Array(5).fill(404),
    )
    const done = [200, 204, 204, 200]
    const manager = await server.member(organization, ['manage-workspaces'])
    expect(await statuses(changes(manager, ours))).toEqual(done)
    const refused = [...changes(manager, projects, owned(project.id)), manager.delete(projects.links.self)]
    expect(await statuses(refused)).toEqual(Array(5).fill(404))
    for (const client of [
      await server.member(organization, ['manage-projects']),
      await server.organizationToken(organization),
    ]) {
      expect(await statuses(changes(client, ours))).toEqual(done)
      expect(await statuses(changes(client, projects, owned(project.id)))).toEqual(done)
    }
    expect((await reader.get(ours.links.self)).body.data.attributes.description).toBe('changed')
  })

  test('do not take the variables of workspaces for their own', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const own = await newVariable(owner, workspace.id)
    const set = await newVarset(owner, path, {}, { workspaces: identifiers('workspaces', workspace.id) })
    const variable = await newVarsetVariable(owner, set.id)
    expect((await owner.get(`${set.links.self}/relationships/vars/${own.id}`)).status).toBe(404)
    expect((await owner.get(`/api/v2/workspaces/${workspace.id}/vars/${variable.id}`)).status).toBe(404)
    expect((await owner.patch(`/api/v2/vars/${variable.id}`, document('vars', {}))).status).toBe(404)
  })
})
