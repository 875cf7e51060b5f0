import { expect, test } from 'vitest'
import { type Client, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { document, newProject, newVarset, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('varsets', attributes, relationships)
const identifiers = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ id, type })) })
const owned = (id: string, type = 'projects') => ({ parent: { data: { id, type } } })

onEachDialect('refusals of variable sets', (server) => {
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
})
