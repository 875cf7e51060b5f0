import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
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
