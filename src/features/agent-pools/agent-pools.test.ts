import { expect, test } from 'vitest'
import {
  type Answer,
  type Client,
  expectStatus,
  onEachDialect,
  pointers,
  unique,
  violations,
} from '../../../test/harness.ts'
import { document, newProject, newWorkspace } from '../../../test/resources.ts'

const TYPE = 'agent-pools'
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)
const to = (type: string, ...members: string[]) => ({ data: members.map((id) => ({ id, type })) })
const none = { data: [] }

onEachDialect('agent pools', (server) => {
  const newPool = async (owner: Client, path: string, attributes: object = {}, relationships?: object) => {
    const body = document(TYPE, { name: `pool-${unique()}`, ...attributes }, relationships)
    return expectStatus(await owner.post(`${path}/agent-pools`, body), 201).body.data
  }

  test('are made, shown, changed and removed', async () => {
    const { owner, path, name } = await server.organization()
    const [workspace, other] = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    const project = await newProject(owner, path)
    const created = await newPool(
      owner,
      path,
      { name: 'on-premises', 'organization-scoped': false },
      {
        'allowed-workspaces': to('workspaces', workspace.id),
        'allowed-projects': to('projects', project.id),
        'excluded-workspaces': to('workspaces', other.id),
      },
    )
    const self = `/api/v2/agent-pools/${created.id}`
    expect(created).toEqual({
      id: expect.stringMatching(/^apool-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: TYPE,
      attributes: {
        name: 'on-premises',
        'organization-scoped': false,
        'agent-count': 0,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      relationships: {
        organization: { data: { id: name, type: 'organizations' } },
        agents: { links: { related: `${self}/agents` } },
        'authentication-tokens': { links: { related: `${self}/authentication-tokens` } },
        workspaces: none,
        'allowed-workspaces': to('workspaces', workspace.id),
        'allowed-projects': to('projects', project.id),
        'excluded-workspaces': to('workspaces', other.id),
      },
      links: { self },
    })
    expect((await owner.get(self)).body.data).toEqual(created)

    const renamed = await owner.patch(self, document(TYPE, { name: 'renamed', 'organization-scoped': true }))
    expect(renamed.body.data.attributes).toMatchObject({ name: 'renamed', 'organization-scoped': true })
    expect(renamed.body.data.relationships).toEqual(created.relationships)
    const emptied = await owner.patch(
      self,
      document(TYPE, {}, { 'allowed-workspaces': none, 'excluded-workspaces': none }),
    )
    expect(emptied.body.data.relationships).toMatchObject({
      'allowed-workspaces': none,
      'excluded-workspaces': none,
      'allowed-projects': to('projects', project.id),
    })
    expect((await owner.delete(self)).status).toBe(204)
    expect((await owner.get(self)).status).toBe(404)
    expect((await owner.delete(self)).status).toBe(404)
    expect((await newPool(owner, path)).attributes['organization-scoped']).toBe(true)
  })

  test('are listed in pages, searched and sorted', async () => {
    const { owner, path } = await server.organization()
    const made = []
    for (const name of ['beta', 'alpha', 'gamma']) made.push((await newPool(owner, path, { name })).id)
    const [beta, alpha, gamma] = made
    const list = `${path}/agent-pools`
    expect(ids(await owner.get(list))).toEqual([alpha, beta, gamma])
    expect(ids(await owner.get(`${list}?sort=-name`))).toEqual([gamma, beta, alpha])
    expect(ids(await owner.get(`${list}?sort=created-at`))).toEqual(made)
    expect(ids(await owner.get(`${list}?sort=-created-at`))).toEqual(made.toReversed())
    expect(ids(await owner.get(`${list}?q=ALP`))).toEqual([alpha])
    const second = await owner.get(`${list}?page[size]=2&page[number]=2`)
    expect(ids(second)).toEqual([gamma])
    expect(second.body.meta.pagination['total-count']).toBe(3)
    expect(ids(await owner.get(`${list}?page[number]=99`))).toEqual([])
    const bad = await owner.get(`${list}?sort=id`)
    expect([bad.status, bad.body.errors[0].source.parameter]).toEqual([400, 'sort'])
  })

  test('are found by the workspace or the project that may use them', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    const [first, second] = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    const within = await newWorkspace(
      owner,
      path,
      {},
      { project: { data: { id: project.id, type: 'projects' } } },
    )
    const scoped = { 'organization-scoped': false }
    const forAll = await newPool(
      owner,
      path,
      { name: 'a' },
      { 'excluded-workspaces': to('workspaces', second.id) },
    )
    const forFirst = await newPool(
      owner,
      path,
      { name: 'b', ...scoped },
      { 'allowed-workspaces': to('workspaces', first.id) },
    )
    const forProject = await newPool(
      owner,
      path,
      { name: 'c', ...scoped },
      { 'allowed-projects': to('projects', project.id) },
    )
    const usable = async (kind: string, { attributes }: { attributes: { name: string } }) =>
      ids(
        await owner.get(
          `${path}/agent-pools?filter[allowed_${kind}][name]=${encodeURIComponent(attributes.name)}`,
        ),
      )
    expect(await usable('workspaces', first)).toEqual([forAll.id, forFirst.id])
    expect(await usable('workspaces', second)).toEqual([])
    expect(await usable('workspaces', within)).toEqual([forAll.id, forProject.id])
    expect(await usable('projects', project)).toEqual([forAll.id, forProject.id])
    expect(await usable('workspaces', { attributes: { name: 'none' } })).toEqual([])
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const elsewhere = await server.organization()
    const foreign = await newWorkspace(elsewhere.owner, elsewhere.path)
    await newPool(owner, path, { name: 'taken' })
    const list = `${path}/agent-pools`
    expect(
      violations(await owner.post(list, { data: { attributes: { 'organization-scoped': 1 } } })),
    ).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/attributes/organization-scoped', detail: 'Organization scoped must be a boolean' },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    for (const name of ['', 'a b', 'ä', 'x'.repeat(91), null]) {
      expect(pointers(await owner.post(list, document(TYPE, { name })))).toEqual(['/data/attributes/name'])
    }
    const taken = await owner.post(list, document(TYPE, { name: 'taken' }))
    expect(violations(taken)).toEqual([
      { pointer: '/data/attributes/name', detail: 'Name has already been taken' },
    ])
    const other = await newPool(owner, path)
    expect(
      violations(await owner.patch(`/api/v2/agent-pools/${other.id}`, document(TYPE, { name: 'taken' }))),
    ).toEqual([{ pointer: '/data/attributes/name', detail: 'Name has already been taken' }])
    const scope = {
      'allowed-workspaces': to('workspaces', foreign.id),
      'allowed-projects': to('projects', 'prj-none'),
      'excluded-workspaces': to('workspaces', foreign.id),
    }
    const strange = await owner.post(list, document(TYPE, { name: 'strange' }, scope))
    expect(violations(strange)).toEqual([
      { pointer: '/data/relationships/allowed-projects/data/0/id', detail: 'Project does not exist' },
      { pointer: '/data/relationships/allowed-workspaces/data/0/id', detail: 'Workspace does not exist' },
      { pointer: '/data/relationships/excluded-workspaces/data/0/id', detail: 'Workspace does not exist' },
    ])
    expect(ids(await owner.get(`${list}?q=strange`))).toEqual([])
  })

  test('are checked in order, and do not exist for strangers', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newPool(owner, path)
    const [list, member] = [`${path}/agent-pools`, `/api/v2/agent-pools/${id}`]
    expect((await server.nobody.post(list, {})).status).toBe(401)
    const reader = await server.member(organization, ['read-workspaces'])
    expect((await reader.get(member)).status).toBe(200)
    for (const client of [await server.user(), reader]) {
      expect((await client.send('POST', list, 'x', { 'content-type': 'text/plain' })).status).toBe(404)
      expect((await client.patch(member, {})).status).toBe(404)
      expect((await client.delete(member)).status).toBe(404)
    }
    const stranger = await server.user()
    expect((await stranger.get(list)).status).toBe(404)
    expect((await stranger.get(member)).status).toBe(404)
    expect((await owner.send('POST', list, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await owner.send('POST', list, '{')).status).toBe(400)
    expect((await owner.patch(member, {})).status).toBe(422)
    const manager = await server.member(organization, ['manage-agent-pools'])
    expect((await manager.get(member)).status).toBe(200)
    expect((await manager.patch(member, document(TYPE, {}))).status).toBe(200)
  })

  test('race: of pools of one name one is made', async () => {
    const { owner, path } = await server.organization()
    const body = document(TYPE, { name: 'race' })
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => owner.post(`${path}/agent-pools`, body)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
  })

  test('have tokens, whose secret is shown once and opens nothing of the API', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newPool(owner, path)
    const url = `/api/v2/agent-pools/${id}/authentication-tokens`
    const made = []
    // The Go client sends the type of other tokens.
    for (const type of ['authentication-tokens', 'agent-tokens']) {
      const created = expectStatus(await owner.post(url, document(type, { description: 'build-7' })), 201)
      expect(created.body.data).toMatchObject({
        id: expect.stringMatching(/^at-/),
        type: 'authentication-tokens',
        attributes: {
          description: 'build-7',
          'last-used-at': null,
          token: expect.stringMatching(/^plinth_/),
        },
        relationships: { 'created-by': { data: { id: owner.id, type: 'users' } } },
      })
      made.push(created.body.data)
    }
    const [token, other] = made
    expect(ids(await owner.get(url))).toEqual([token.id, other.id])
    expect(ids(await owner.get(`${url}?sort=-created-at`))).toEqual([other.id, token.id])
    expect(ids(await owner.get(`${url}?page[size]=1&page[number]=2`))).toEqual([other.id])
    expect((await owner.get(`${url}?sort=hash`)).status).toBe(400)
    expect((await owner.get(url)).text).not.toContain(token.attributes.token)

    const agent = server.as(token.attributes.token)
    for (const address of [path, '/api/v2/account/details', '/api/v2/organizations', `${path}/workspaces`]) {
      expect([address, (await agent.get(address)).status]).toEqual([address, 404])
    }
    expect((await agent.get(`/api/v2/agent-pools/${id}`)).status).toBe(404)
    const member = `/api/v2/authentication-tokens/${token.id}`
    expect((await owner.get(member)).body.data.attributes.token).toBeNull()
    for (const client of [await server.user(), await server.member(organization, ['manage-workspaces'])]) {
      expect((await client.get(url)).status).toBe(404)
      expect((await client.post(url)).status).toBe(404)
      expect((await client.get(member)).status).toBe(404)
      expect((await client.delete(member)).status).toBe(404)
    }
    expect((await owner.delete(member)).status).toBe(204)
    expect((await agent.get('/api/v2/account/details')).status).toBe(401)
    expect((await owner.delete(`/api/v2/agent-pools/${id}`)).status).toBe(204)
    expect((await server.as(other.attributes.token).get('/api/v2/account/details')).status).toBe(401)
  })
})
