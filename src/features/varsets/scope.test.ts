import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { document, inProject, newProject, newVarset, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('varsets', attributes, relationships)
const identifiers = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ id, type })) })
const owned = (id: string, type = 'projects') => ({ parent: { data: { id, type } } })

interface Named {
  attributes: { name: string }
}
const names = (answer: { body: { data: Named[] } }) =>
  answer.body.data.map(({ attributes }) => attributes.name)

onEachDialect('scope of variable sets', (server) => {
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
})
