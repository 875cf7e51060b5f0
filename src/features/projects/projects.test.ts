import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, unique, violations } from '../../../test/harness.ts'
import { bindings, document, inProject, newProject, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('projects', attributes, relationships)
const names = (answer: { body: { data: { attributes: { name: string } }[] } }) =>
  answer.body.data.map((item) => item.attributes.name)

onEachDialect('projects', (server) => {
  test('are created, shown, updated and deleted', async () => {
    const { owner, name: organization, path } = await server.organization()
    const created = await owner.post(
      `${path}/projects`,
      body({ name: 'Net_work - 1', description: 'Networks', 'auto-destroy-activity-duration': '14d' }),
    )
    expect(created.status).toBe(201)
    const { id } = created.body.data
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^prj-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'projects',
      attributes: {
        name: 'Net_work - 1',
        description: 'Networks',
        'created-at': expect.stringMatching(/Z$/),
        'workspace-count': 0,
        'team-count': 0,
        'is-unified': false,
        'auto-destroy-activity-duration': '14d',
        'default-execution-mode': 'remote',
        'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
        permissions: {
          'can-read': true,
          'can-update': true,
          'can-destroy': true,
          'can-create-workspace': true,
          'can-move-workspace': true,
          'can-manage-tags': true,
          'can-read-teams': true,
          'can-manage-teams': true,
        },
      },
      relationships: {
        organization: {
          data: { id: organization, type: 'organizations' },
          links: { related: `/api/v2/organizations/${organization}` },
        },
        'default-agent-pool': { data: null },
        'tag-bindings': { links: { related: `/api/v2/projects/${id}/tag-bindings` } },
        'effective-tag-bindings': { links: { related: `/api/v2/projects/${id}/effective-tag-bindings` } },
      },
      links: { self: `/api/v2/projects/${id}` },
    })
    expect((await owner.get(`/api/v2/projects/${id}`)).body).toEqual(created.body)

    const changed = await owner.patch(
      `/api/v2/projects/${id}`,
      body({ description: null, 'auto-destroy-activity-duration': null }),
    )
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toMatchObject({
      name: 'Net_work - 1',
      description: '',
      'auto-destroy-activity-duration': null,
    })
    expect(await owner.delete(`/api/v2/projects/${id}`)).toMatchObject({ status: 204, text: '' })
    expect((await owner.get(`/api/v2/projects/${id}`)).status).toBe(404)
    expect((await owner.delete(`/api/v2/projects/${id}`)).status).toBe(404)
  })

  test('begin with a default one that stays', async () => {
    const { owner, path } = await server.organization()
    const list = await owner.get(`${path}/projects`)
    expect(names(list)).toEqual(['Default Project'])
    const { id } = list.body.data[0]
    const organization = (await owner.get(path)).body.data
    expect(organization.relationships['default-project'].data).toEqual({ id, type: 'projects' })

    const refused = await owner.delete(`/api/v2/projects/${id}`)
    expect(refused.status).toBe(403)
    expect(refused.body.errors[0].detail).toContain('default project')
    expect((await owner.patch(`/api/v2/projects/${id}`, body({ name: 'Main' }))).status).toBe(200)
    expect((await owner.delete(`/api/v2/projects/${id}`)).status).toBe(403)
    expect((await owner.delete(path)).status).toBe(204)
  })

  test('with workspaces stay', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newProject(owner, path)
    const workspace = await newWorkspace(owner, path, {}, inProject(id))
    expect((await owner.get(`/api/v2/projects/${id}`)).body.data.attributes['workspace-count']).toBe(1)
    const refused = await owner.delete(`/api/v2/projects/${id}`)
    expect(refused.status).toBe(403)
    expect(refused.body.errors[0].detail).toContain('workspaces')
    expectStatus(await owner.delete(`/api/v2/workspaces/${workspace.id}`), 204)
    expect((await owner.delete(`/api/v2/projects/${id}`)).status).toBe(204)
  })

  test('race: a project is deleted, or gets a workspace, never both', async () => {
    const { owner, path } = await server.organization()
    for (let round = 0; round < 5; round++) {
      const { id } = await newProject(owner, path)
      const [deleted, made] = await Promise.all([
        owner.delete(`/api/v2/projects/${id}`),
        owner.post(`${path}/workspaces`, document('workspaces', { name: `race-${unique()}` }, inProject(id))),
      ])
      expect([
        [204, 422],
        [403, 201],
      ]).toContainEqual([deleted.status, made.status])
    }
  })

  test('go with their organization, workspaces and bindings included', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newProject(owner, path, { 'tag-bindings': bindings({ a: '1' }) })
    await newWorkspace(owner, path, {}, { ...inProject(id), 'tag-bindings': bindings({ b: '2' }) })
    expect((await owner.delete(path)).status).toBe(204)
    expect((await owner.get(`/api/v2/projects/${id}`)).status).toBe(404)
  })

  test('have an execution mode of their own, or their organization’s', async () => {
    const { owner, path } = await server.organization()
    expectStatus(
      await owner.patch(path, {
        data: { type: 'organizations', attributes: { 'default-execution-mode': 'local' } },
      }),
      200,
    )
    const { id, attributes } = await newProject(owner, path)
    expect(attributes['default-execution-mode']).toBe('local')
    const modeAfter = async (change: object) => {
      const { data } = expectStatus(await owner.patch(`/api/v2/projects/${id}`, body(change)), 200).body
      return [
        data.attributes['default-execution-mode'],
        data.attributes['setting-overwrites']['default-execution-mode'],
      ]
    }
    expect(await modeAfter({ 'default-execution-mode': 'remote' })).toEqual(['remote', true])
    expect(await modeAfter({ description: 'x' })).toEqual(['remote', true])
    const overwrites = (value: boolean) => ({ 'setting-overwrites': { 'default-execution-mode': value } })
    expect(await modeAfter(overwrites(false))).toEqual(['local', false])
    expect(await modeAfter(overwrites(true))).toEqual(['local', true])
    const workspace = await newWorkspace(owner, path, {}, inProject(id))
    expect(workspace.attributes['execution-mode']).toBe('local')
  })

  test('are listed by name, searched, filtered and sorted, in pages', async () => {
    const { owner, path } = await server.organization()
    const list = `${path}/projects`
    for (const name of ['alpha', 'beta', 'gamma']) expectStatus(await owner.post(list, body({ name })), 201)
    expect(names(await owner.get(`${list}?q=ET`))).toEqual(['beta'])
    expect(names(await owner.get(`${list}?filter[names]=gamma,Alpha`))).toEqual(['alpha', 'gamma'])
    expect(names(await owner.get(`${list}?filter[names]=none`))).toEqual([])
    expect(names(await owner.get(`${list}?q=a&sort=-name&filter[permissions][update]=true`))).toEqual(
      ['gamma', 'beta', 'alpha', 'Default Project'].sort((a, b) => (a < b ? 1 : -1)),
    )
    const second = await owner.get(`${list}?page[number]=2&page[size]=3&sort=name`)
    expect(second.body.data).toHaveLength(1)
    expect(second.body.meta.pagination).toMatchObject({
      'total-count': 4,
      'total-pages': 2,
      'next-page': null,
    })
    const beyond = await owner.get(`${list}?page[number]=9`)
    expect(beyond).toMatchObject({ status: 200, body: { data: [] } })
  })

  test('are filtered by bindings, and bring them along', async () => {
    const { owner, path } = await server.organization()
    const both = await newProject(owner, path, { 'tag-bindings': bindings({ env: 'dev', team: 'net' }) })
    const one = await newProject(owner, path, { 'tag-bindings': bindings({ env: 'prod' }) })
    const found = async (query: string) =>
      (await owner.get(`${path}/projects?${query}&TagBindings={junk}`)).body.data
        .map((item: { id: string }) => item.id)
        .sort()
    expect(await found('filter[tagged][0][key]=env')).toEqual([both.id, one.id].sort())
    expect(await found('filter[tagged][0][key]=env&filter[tagged][0][value]=prod')).toEqual([one.id])
    expect(await found('filter[tagged][0][key]=env&filter[tagged][1][key]=team')).toEqual([both.id])

    const shown = await owner.get(`/api/v2/projects/${one.id}?include=effective_tag_bindings`)
    expect(shown.body.included).toEqual([
      {
        id: shown.body.data.relationships['effective-tag-bindings'].data[0].id,
        type: 'effective-tag-bindings',
        attributes: { key: 'env', value: 'prod' },
      },
    ])
    const bad = await owner.get(`${path}/projects?include=nonsense`)
    expect(bad.status).toBe(400)
    expect(bad.body.errors[0].detail).toContain('include parameter')
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const list = `${path}/projects`
    for (const name of ['ab', 'x'.repeat(41), 'no/slash', ' lead', 'trail ', 'ümlaut']) {
      const answer = await owner.post(list, body({ name }))
      expect([name, answer.status, violations(answer)]).toEqual([
        name,
        422,
        [{ pointer: '/data/attributes/name', detail: expect.stringContaining('Name may only contain') }],
      ])
    }
    expect((await owner.post(list, body({ name: 'x'.repeat(40) }))).status).toBe(201)
    expect(
      violations(
        await owner.post(
          list,
          body(
            { 'auto-destroy-activity-duration': 'soon', 'default-execution-mode': 'cloud', description: 1 },
            { 'tag-bindings': bindings({ 'a/b': '' }) },
          ),
        ),
      ),
    ).toEqual([
      {
        pointer: '/data/attributes/auto-destroy-activity-duration',
        detail: expect.stringContaining(
          'has an incorrect format, we expect up to 4 numeric digits and 1 unit',
        ),
      },
      {
        pointer: '/data/attributes/default-execution-mode',
        detail: 'Default execution mode must be remote or local or agent',
      },
      { pointer: '/data/attributes/description', detail: 'Description must be a string or null' },
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      {
        pointer: '/data/relationships/tag-bindings/data/0/attributes/key',
        detail: expect.stringContaining('Key is invalid'),
      },
    ])
    const taken = [{ pointer: '/data/attributes/name', detail: 'Name has already been taken' }]
    expect(violations(await owner.post(list, body({ name: 'default project' })))).toEqual(taken)
    const { id } = await newProject(owner, path)
    expect(
      violations(await owner.patch(`/api/v2/projects/${id}`, body({ name: 'Default Project' }))),
    ).toEqual(taken)
  })

  test('race: of several creates of one name exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`${path}/projects`, body({ name: 'race' }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('open to those with the right only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newProject(owner, path)
    const answers = (client: Client) =>
      Promise.all([
        client.get(`${path}/projects`),
        client.get(`/api/v2/projects/${id}`),
        client.post(`${path}/projects`, {}),
        client.patch(`/api/v2/projects/${id}`, {}),
        client.delete(`/api/v2/projects/${id}x`),
      ]).then((all) => all.map((answer) => answer.status))
    expect(await answers(await server.user())).toEqual([404, 404, 404, 404, 404])
    // A member may know that there are projects, but sees none.
    const member = await server.member(organization)
    expect(await answers(member)).toEqual([200, 404, 404, 404, 404])
    expect((await member.get(`${path}/projects`)).body).toMatchObject({
      data: [],
      meta: { pagination: { 'total-count': 0 } },
    })
    expect(await answers(await server.member(organization, ['read-projects']))).toEqual([
      200, 200, 404, 404, 404,
    ])
    expect(await answers(await server.teamToken(organization, ['manage-projects']))).toEqual([
      200, 200, 422, 422, 404,
    ])
    const reader = await server.member(organization, ['read-projects'])
    const shown = (await reader.get(`/api/v2/projects/${id}`)).body.data.attributes.permissions
    expect(shown).toMatchObject({ 'can-read': true, 'can-update': false, 'can-create-workspace': false })
    expect((await reader.delete(`/api/v2/projects/${id}`)).status).toBe(404)
    expect(await answers(await server.organizationToken(organization))).toEqual([200, 200, 422, 422, 404])
  })
})
