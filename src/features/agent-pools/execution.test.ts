import { expect, test } from 'vitest'
import { newAgentWorkspace } from '../../../test/agents.ts'
import { type Client, expectStatus, onEachDialect, unique, violations } from '../../../test/harness.ts'
import { document, inProject, newProject, newWorkspace } from '../../../test/resources.ts'
import { newRun, untilRun } from '../../../test/runs.ts'

const to = (type: string, ...members: string[]) => ({ data: members.map((id) => ({ id, type })) })
const pool = (id: string | null) => ({ data: id && { id, type: 'agent-pools' } })

const AGENT = { 'execution-mode': 'agent' }
const NOT_FOR_THIS = 'Agent pool does not exist, or is not for this'
const BLANK = "Agent pool can't be blank with the execution mode agent"
const NO_AGENT = 'Agent pool can only be set with the execution mode agent'

onEachDialect('the execution mode agent', (server) => {
  const newPool = async (owner: Client, path: string, attributes: object = {}, relationships?: object) => {
    const body = document('agent-pools', { name: `pool-${unique()}`, ...attributes }, relationships)
    return expectStatus(await owner.post(`${path}/agent-pools`, body), 201).body.data.id
  }
  const shown = ({ attributes, relationships }: Record<string, Record<string, unknown>>) => ({
    mode: attributes?.['execution-mode'],
    pool: attributes?.['agent-pool-id'],
    related: relationships?.['agent-pool'],
    own: attributes?.['setting-overwrites'],
  })
  const own = (value: boolean) => ({ 'execution-mode': value, 'agent-pool': value })
  const detailOf = (answer: Parameters<typeof violations>[0]) =>
    violations(answer).map(({ detail }) => detail)

  test('comes with a pool, by either form', async () => {
    const { owner, path } = await server.organization()
    const [first, second] = [await newPool(owner, path), await newPool(owner, path)]
    const created = await newWorkspace(owner, path, { ...AGENT, 'agent-pool-id': first })
    expect(shown(created)).toEqual({ mode: 'agent', pool: first, related: pool(first), own: own(true) })
    const self = `/api/v2/workspaces/${created.id}`
    const change = async (attributes: object, relationships?: object) =>
      shown(
        expectStatus(await owner.patch(self, document('workspaces', attributes, relationships)), 200).body
          .data,
      )
    expect(await change({}, { 'agent-pool': pool(second) })).toMatchObject({ mode: 'agent', pool: second })
    expect(await change({ description: 'same' })).toMatchObject({ mode: 'agent', pool: second })
    expect(await change({ ...AGENT })).toMatchObject({ mode: 'agent', pool: second })
    // As the provider says remote.
    expect(await change({ 'execution-mode': 'remote', 'agent-pool-id': '' })).toEqual({
      mode: 'remote',
      pool: null,
      related: pool(null),
      own: own(true),
    })
    expect(await change({ ...AGENT, 'agent-pool-id': first })).toMatchObject({ pool: first })
    const included = await owner.get(`${self}?include=agent-pool`)
    expect(included.body.included).toMatchObject([{ id: first, type: 'agent-pools' }])
    const used = await owner.get(`/api/v2/agent-pools/${first}?include=workspaces`)
    expect(used.body.data.relationships.workspaces).toEqual(to('workspaces', created.id))
    expect(used.body.included).toMatchObject([{ id: created.id, type: 'workspaces' }])
    expect(await change({ operations: false })).toMatchObject({ mode: 'local', pool: null })
  })

  test('is refused without a pool, or with one that is not for the workspace', async () => {
    const { owner, path } = await server.organization()
    const elsewhere = await server.organization()
    const foreign = await newPool(elsewhere.owner, elsewhere.path)
    const workspace = await newWorkspace(owner, path)
    const other = await newWorkspace(owner, path)
    const project = await newProject(owner, path)
    const scope = { 'organization-scoped': false }
    const forOther = await newPool(owner, path, scope, { 'allowed-workspaces': to('workspaces', other.id) })
    const forProject = await newPool(owner, path, scope, { 'allowed-projects': to('projects', project.id) })
    const notForIt = await newPool(owner, path, {}, { 'excluded-workspaces': to('workspaces', workspace.id) })
    const forAll = await newPool(owner, path)
    const self = `/api/v2/workspaces/${workspace.id}`
    const pointer = '/data/attributes/agent-pool-id'
    for (const [attributes, detail] of [
      [AGENT, BLANK],
      [{ ...AGENT, 'agent-pool-id': '' }, BLANK],
      [{ ...AGENT, 'agent-pool-id': 'apool-none' }, NOT_FOR_THIS],
      [{ ...AGENT, 'agent-pool-id': foreign }, NOT_FOR_THIS],
      [{ ...AGENT, 'agent-pool-id': forOther }, NOT_FOR_THIS],
      [{ ...AGENT, 'agent-pool-id': forProject }, NOT_FOR_THIS],
      [{ ...AGENT, 'agent-pool-id': notForIt }, NOT_FOR_THIS],
      [{ 'execution-mode': 'remote', 'agent-pool-id': forAll }, NO_AGENT],
      [{ 'agent-pool-id': forAll }, NO_AGENT],
      [
        { 'agent-pool-id': forAll, 'setting-overwrites': { 'execution-mode': false } },
        'Agent pool cannot be set and inherited',
      ],
    ] as const) {
      const answer = await owner.patch(self, document('workspaces', attributes))
      expect([attributes, answer.status, violations(answer)]).toEqual([
        attributes,
        422,
        [{ pointer, detail }],
      ])
    }
    const body = document('workspaces', { name: `ws-${unique()}`, ...AGENT, 'agent-pool-id': forOther })
    expect(detailOf(await owner.post(`${path}/workspaces`, body))).toEqual([NOT_FOR_THIS])
    expect((await owner.get(self)).body.data.attributes['execution-mode']).toBe('remote')

    const within = await newWorkspace(
      owner,
      path,
      { ...AGENT, 'agent-pool-id': forProject },
      inProject(project.id),
    )
    const back = (await owner.get(self)).body.data.relationships.project.data.id
    const moved = await owner.patch(
      `/api/v2/workspaces/${within.id}`,
      document('workspaces', {}, inProject(back)),
    )
    expect(violations(moved)).toEqual([{ pointer, detail: NOT_FOR_THIS }])
    expect(
      (
        await owner.patch(
          `/api/v2/workspaces/${other.id}`,
          document('workspaces', { ...AGENT, 'agent-pool-id': forOther }),
        )
      ).status,
    ).toBe(200)
    // What uses a pool goes on doing so.
    const narrowed = await owner.patch(
      `/api/v2/agent-pools/${forOther}`,
      document('agent-pools', {}, { 'allowed-workspaces': { data: [] } }),
    )
    expect(narrowed.body.data.relationships.workspaces).toEqual(to('workspaces', other.id))
  })

  test('is handed down by projects and organizations', async () => {
    const { owner, path } = await server.organization()
    const [ofOrganization, ofProject] = [await newPool(owner, path), await newPool(owner, path)]
    const project = await newProject(owner, path)
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    const read = async () => shown((await owner.get(`/api/v2/workspaces/${workspace.id}`)).body.data)
    const organization = await owner.patch(
      path,
      document(
        'organizations',
        { 'default-execution-mode': 'agent' },
        { 'default-agent-pool': pool(ofOrganization) },
      ),
    )
    expect(organization.body.data.attributes['default-execution-mode']).toBe('agent')
    expect(organization.body.data.relationships['default-agent-pool']).toEqual(pool(ofOrganization))
    expect(await read()).toEqual({
      mode: 'agent',
      pool: ofOrganization,
      related: pool(ofOrganization),
      own: own(false),
    })
    const settings = { 'default-execution-mode': 'agent', 'default-agent-pool-id': ofProject }
    const changed = await owner.patch(`/api/v2/projects/${project.id}`, document('projects', settings))
    expect(changed.body.data).toMatchObject({
      attributes: {
        'default-execution-mode': 'agent',
        'setting-overwrites': { 'default-execution-mode': true, 'default-agent-pool': true },
      },
      relationships: { 'default-agent-pool': pool(ofProject) },
    })
    expect(await read()).toMatchObject({ mode: 'agent', pool: ofProject, own: own(false) })
    const users = async (id: string) =>
      (await owner.get(`/api/v2/agent-pools/${id}`)).body.data.relationships.workspaces
    expect(await users(ofProject)).toEqual(to('workspaces', workspace.id))
    expect(await users(ofOrganization)).toEqual({ data: [] })

    const pinned = document('workspaces', {
      'setting-overwrites': { 'execution-mode': true, 'agent-pool': true },
    })
    expectStatus(await owner.patch(`/api/v2/workspaces/${workspace.id}`, pinned), 200)
    expect(await read()).toMatchObject({ pool: ofProject, own: own(true) })
    const inherits = {
      'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false },
    }
    const inheriting = await owner.patch(`/api/v2/projects/${project.id}`, document('projects', inherits))
    expect(inheriting.body.data.relationships['default-agent-pool']).toEqual(pool(ofOrganization))
    expect(await read()).toMatchObject({ pool: ofProject })
    const remote = await owner.patch(path, document('organizations', { 'default-execution-mode': 'remote' }))
    expect(remote.body.data.relationships['default-agent-pool']).toEqual(pool(null))
  })

  test('of projects and organizations is refused alike', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    const scope = { 'organization-scoped': false }
    const narrow = await newPool(owner, path, scope)
    const forProject = await newPool(owner, path, scope, { 'allowed-projects': to('projects', project.id) })
    const ofProject = (attributes: object, relationships?: object) =>
      owner.patch(`/api/v2/projects/${project.id}`, document('projects', attributes, relationships))
    const mode = { 'default-execution-mode': 'agent' }
    expect(detailOf(await ofProject(mode))).toEqual([BLANK])
    expect(violations(await ofProject({ ...mode, 'default-agent-pool-id': narrow }))).toEqual([
      { pointer: '/data/attributes/default-agent-pool-id', detail: NOT_FOR_THIS },
    ])
    expect((await ofProject(mode, { 'default-agent-pool': pool(forProject) })).status).toBe(200)
    const ofOrganization = (attributes: object, id?: string) =>
      owner.patch(path, document('organizations', attributes, id ? { 'default-agent-pool': pool(id) } : {}))
    expect(detailOf(await ofOrganization(mode))).toEqual([BLANK])
    expect(detailOf(await ofOrganization({}, narrow))).toEqual([NO_AGENT])
    for (const id of [narrow, forProject, 'apool-none']) {
      expect(violations(await ofOrganization(mode, id))).toEqual([
        {
          pointer: '/data/relationships/default-agent-pool/data/id',
          detail: 'Agent pool does not exist, or is not for the whole organization',
        },
      ])
    }
    const born = document('organizations', { name: `o-${unique()}`, email: 'a@example.com', ...mode })
    expect(detailOf(await owner.post('/api/v2/organizations', born))).toEqual([BLANK])
  })

  test('keeps its pool from being removed, unless the organization goes', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    const id = await newPool(owner, path)
    const workspace = await newWorkspace(owner, path, { ...AGENT, 'agent-pool-id': id })
    const remove = async () => (await owner.delete(`/api/v2/agent-pools/${id}`)).status
    expect(await remove()).toBe(422)
    expectStatus(await owner.delete(`/api/v2/workspaces/${workspace.id}`), 204)
    const ofProject = { 'default-execution-mode': 'agent', 'default-agent-pool-id': id }
    expectStatus(await owner.patch(`/api/v2/projects/${project.id}`, document('projects', ofProject)), 200)
    expect(await remove()).toBe(422)
    expectStatus(await owner.delete(`/api/v2/projects/${project.id}`), 204)
    const mode = { 'default-execution-mode': 'agent' }
    const ofOrganization = document('organizations', mode, { 'default-agent-pool': pool(id) })
    expectStatus(await owner.patch(path, ofOrganization), 200)
    expect(await remove()).toBe(422)
    expectStatus(
      await owner.patch(path, document('organizations', { 'default-execution-mode': 'local' })),
      200,
    )
    expect(await remove()).toBe(204)

    const last = await newPool(owner, path)
    await newWorkspace(owner, path, { ...AGENT, 'agent-pool-id': last })
    expectStatus(
      await owner.patch(path, document('organizations', mode, { 'default-agent-pool': pool(last) })),
      200,
    )
    expect((await owner.delete(path)).status).toBe(204)
  })

  test('keeps its pool as long as runs need an agent', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const id = await newPool(owner, organization.path)
    const workspace = await newAgentWorkspace(organization, id)
    const run = await newRun(owner, workspace.id)
    const remote = document('workspaces', { 'execution-mode': 'remote' })
    expectStatus(await owner.patch(`/api/v2/workspaces/${workspace.id}`, remote), 200)
    const remove = () => owner.delete(`/api/v2/agent-pools/${id}`)
    const refused = await remove()
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      422,
      'Agent pool is in use by runs, and cannot be deleted.',
    ])
    expectStatus(await owner.post(`/api/v2/runs/${run.id}/actions/cancel`), 202)
    await untilRun(owner, run.id, ['canceled'])
    expect((await remove()).status).toBe(204)
  })

  test('race: a pool is chosen or removed, not both', async () => {
    const { owner, path } = await server.organization()
    const id = await newPool(owner, path)
    const project = await newProject(owner, path)
    const workspaces = await Promise.all(Array.from({ length: 4 }, () => newWorkspace(owner, path)))
    const [removed, ...chosen] = await Promise.all([
      owner.delete(`/api/v2/agent-pools/${id}`),
      owner.patch(
        path,
        document('organizations', { 'default-execution-mode': 'agent' }, { 'default-agent-pool': pool(id) }),
      ),
      owner.patch(
        `/api/v2/projects/${project.id}`,
        document('projects', { 'default-execution-mode': 'agent', 'default-agent-pool-id': id }),
      ),
      ...workspaces.map((each) =>
        owner.patch(
          `/api/v2/workspaces/${each.id}`,
          document('workspaces', { ...AGENT, 'agent-pool-id': id }),
        ),
      ),
    ])
    const wasRemoved = removed.status === 204
    expect([204, 422]).toContain(removed.status)
    for (const { status } of chosen) expect(status).toBe(wasRemoved ? 422 : 200)
  })
})
