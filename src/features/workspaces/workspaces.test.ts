import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import {
  document,
  inProject,
  newProject,
  newWorkspace,
  workspacePermissions,
} from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('workspaces', attributes, relationships)

onEachDialect('workspaces', (server) => {
  const defaultProject = async (owner: Client, path: string): Promise<string> =>
    (await owner.get(path)).body.data.relationships['default-project'].data.id

  test('are created with every attribute that clients know, and shown by id and by name', async () => {
    const { owner, name: organization, path } = await server.organization()
    const created = await owner.post(`${path}/workspaces`, body({ name: 'app-dev' }))
    expect(created.status).toBe(201)
    const { id, attributes } = created.body.data
    const projectId = await defaultProject(owner, path)
    const none = { data: null }
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'workspaces',
      attributes: {
        name: 'app-dev',
        description: null,
        locked: false,
        'locked-reason': null,
        'execution-mode': 'remote',
        'agent-pool-id': null,
        operations: true,
        'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
        'terraform-version': 'latest',
        'working-directory': '',
        'auto-apply': false,
        'auto-apply-run-trigger': false,
        'allow-destroy-plan': true,
        'assessments-enabled': false,
        'file-triggers-enabled': true,
        'global-remote-state': false,
        'project-remote-state': false,
        'queue-all-runs': false,
        'speculative-enabled': true,
        'structured-run-output-enabled': true,
        'trigger-prefixes': [],
        'trigger-patterns': [],
        'source-name': null,
        'source-url': null,
        'auto-destroy-at': null,
        'auto-destroy-activity-duration': null,
        'auto-destroy-status': null,
        'inherits-project-auto-destroy': true,
        environment: 'default',
        'migration-environment': null,
        source: 'tfe-api',
        'source-module-id': null,
        'no-code-upgrade-available': false,
        'vcs-repo': null,
        'vcs-repo-identifier': null,
        'last-assessment-result-at': null,
        'resource-count': 0,
        'apply-duration-average': null,
        'plan-duration-average': null,
        'policy-check-failures': null,
        'run-failures': null,
        'workspace-kpis-runs-count': null,
        'tag-names': [],
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'updated-at': attributes['created-at'],
        'latest-change-at': attributes['created-at'],
        actions: { 'is-destroyable': true },
        'can-queue-destroy-plan': true,
        permissions: { ...workspacePermissions(true), 'can-manage-hyok': false },
      },
      relationships: {
        organization: { data: { id: organization, type: 'organizations' } },
        project: {
          data: { id: projectId, type: 'projects' },
          links: { related: `/api/v2/projects/${projectId}` },
        },
        'locked-by': none,
        'agent-pool': none,
        'ssh-key': none,
        'current-run': none,
        'latest-run': none,
        'current-state-version': none,
        'current-configuration-version': none,
        'current-assessment-result': none,
        readme: none,
        outputs: { data: [] },
        vars: { data: [] },
        'tag-bindings': { links: { related: `/api/v2/workspaces/${id}/tag-bindings` } },
        'effective-tag-bindings': { links: { related: `/api/v2/workspaces/${id}/effective-tag-bindings` } },
      },
      links: {
        self: `/api/v2/organizations/${organization}/workspaces/app-dev`,
        'self-html': `/app/${organization}/workspaces/app-dev`,
      },
    })
    expect((await owner.get(`/api/v2/workspaces/${id}`)).body).toEqual(created.body)
    expect((await owner.get(`${path}/workspaces/app-dev`)).body).toEqual(created.body)
    expect((await owner.get(`${path}/workspaces/APP-Dev`)).body).toEqual(created.body)
    const unknown = await owner.get(`${path}/workspaces/app-prod`)
    expect(unknown.status).toBe(404)
    expect(unknown.body.errors[0]).toMatchObject({ status: '404', title: 'not found' })
  })

  test('take every setting on create, and keep on update what it does not name', async () => {
    const { owner, path } = await server.organization()
    const settings = {
      description: 'Networks',
      'execution-mode': 'local',
      'terraform-version': '~> 1.9.0, != 1.9.3',
      'working-directory': 'envs/dev',
      'auto-apply': true,
      'auto-apply-run-trigger': true,
      'allow-destroy-plan': false,
      'assessments-enabled': true,
      'file-triggers-enabled': false,
      'global-remote-state': true,
      'project-remote-state': true,
      'queue-all-runs': true,
      'speculative-enabled': false,
      'structured-run-output-enabled': false,
      'trigger-prefixes': ['/modules'],
      'source-name': 'portal',
      'source-url': 'https://portal.example.com/1',
      'auto-destroy-activity-duration': '12h',
    }
    const created = await newWorkspace(owner, path, settings)
    expect(created.attributes).toMatchObject({
      ...settings,
      operations: false,
      'setting-overwrites': { 'execution-mode': true },
      'inherits-project-auto-destroy': false,
    })
    const byId = await owner.patch(`/api/v2/workspaces/${created.id}`, body({ 'auto-apply': false }))
    expect(byId.status).toBe(200)
    expect(byId.body.data.attributes).toMatchObject({ ...settings, 'auto-apply': false })
    expect(byId.body.data.attributes['updated-at'] > created.attributes['updated-at']).toBe(true)

    const { name } = created.attributes
    const byName = await owner.patch(
      `${path}/workspaces/${name}`,
      body({
        name: `${name}-2`,
        description: null,
        'working-directory': null,
        'source-name': null,
        'auto-destroy-at': '2030-01-02T03:04:05+01:00',
        'trigger-patterns': ['/envs/**/*'],
        'vcs-repo': null,
      }),
    )
    expect(byName.body.data.id).toBe(created.id)
    expect(byName.body.data.attributes).toMatchObject({
      name: `${name}-2`,
      description: null,
      'working-directory': '',
      'source-name': null,
      'auto-destroy-at': '2030-01-02T02:04:05.000Z',
      'trigger-patterns': ['/envs/**/*'],
      'trigger-prefixes': [],
    })
    expect((await owner.get(`${path}/workspaces/${name}`)).status).toBe(404)
  })

  test('have an execution mode of their own, or inherit one', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path, { operations: false })
    const modeAfter = async (change: object) => {
      const { data } = expectStatus(await owner.patch(`/api/v2/workspaces/${id}`, body(change)), 200).body
      return [data.attributes['execution-mode'], data.attributes['setting-overwrites']['execution-mode']]
    }
    expect(await modeAfter({})).toEqual(['local', true])
    expect(await modeAfter({ 'setting-overwrites': { 'execution-mode': false } })).toEqual(['remote', false])
    const project = `/api/v2/projects/${await defaultProject(owner, path)}`
    await owner.patch(project, document('projects', { 'default-execution-mode': 'local' }))
    expect(await modeAfter({})).toEqual(['local', false])
    expect(await modeAfter({ 'setting-overwrites': { 'execution-mode': true } })).toEqual(['local', true])
    await owner.patch(project, document('projects', { 'default-execution-mode': 'remote' }))
    expect(await modeAfter({})).toEqual(['local', true])
    expect(await modeAfter({ operations: true })).toEqual(['remote', true])
  })

  test('inherit their project’s auto-destroy duration until they have their own', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path)
    const attributes = { 'auto-destroy-activity-duration': '7d' }
    await owner.patch(`/api/v2/projects/${project.id}`, document('projects', attributes))
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    const durationOf = (data: typeof workspace) => [
      data.attributes['auto-destroy-activity-duration'],
      data.attributes['inherits-project-auto-destroy'],
    ]
    expect(durationOf(workspace)).toEqual(['7d', true])
    const update = async (change: object) =>
      (await owner.patch(`/api/v2/workspaces/${workspace.id}`, body(change))).body.data
    expect(durationOf(await update({ 'auto-destroy-activity-duration': '2h' }))).toEqual(['2h', false])
    expect(durationOf(await update({ 'inherits-project-auto-destroy': true }))).toEqual(['7d', true])
  })

  test('go into the project named, and move', async () => {
    const { owner, path } = await server.organization()
    const [first, second] = [await newProject(owner, path), await newProject(owner, path)]
    const { id, attributes, relationships } = await newWorkspace(owner, path, {}, inProject(first.id))
    expect(relationships.project.data.id).toBe(first.id)
    const moved = await owner.patch(`${path}/workspaces/${attributes.name}`, body({}, inProject(second.id)))
    expect(moved.body.data.relationships.project.data.id).toBe(second.id)

    const foreign = await server.organization()
    const theirs = await newProject(foreign.owner, foreign.path)
    const refused = [{ pointer: '/data/relationships/project/data/id', detail: 'Project does not exist' }]
    for (const projectId of [theirs.id, 'prj-none']) {
      const answers = [
        await owner.post(`${path}/workspaces`, body({ name: 'other' }, inProject(projectId))),
        await owner.patch(`/api/v2/workspaces/${id}`, body({}, inProject(projectId))),
      ]
      for (const answer of answers) expect([answer.status, violations(answer)]).toEqual([422, refused])
    }
  })

  test('move several at once, all or none', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const project = await newProject(owner, path)
    const moving = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    const foreign = await server.organization()
    const theirs = await newWorkspace(foreign.owner, foreign.path)
    const address = `/api/v2/projects/${project.id}/relationships/workspaces`
    const identifiers = (...all: { id: string }[]) => ({
      data: all.map(({ id }) => ({ type: 'workspaces', id })),
    })
    const moved = async () =>
      (await owner.get(`/api/v2/projects/${project.id}`)).body.data.attributes['workspace-count']

    const refused = await owner.post(address, identifiers(...moving, theirs))
    expect(violations(refused)).toEqual([{ pointer: '/data/2/id', detail: 'Workspace does not exist' }])
    expect(await moved()).toBe(0)
    expect(await owner.post(address, identifiers(...moving))).toMatchObject({ status: 204, text: '' })
    expect(await moved()).toBe(2)
    const reader = await server.member(organization, ['read-workspaces'])
    for (const client of [foreign.owner, reader]) {
      expect((await client.post(address, identifiers(theirs))).status).toBe(404)
    }
  })

  test('are deleted by id and by name, safely only while unlocked', async () => {
    const { owner, path } = await server.organization()
    const make = () => newWorkspace(owner, path)
    const byName = ({ attributes }: { attributes: { name: string } }) =>
      `${path}/workspaces/${attributes.name}`
    const locked = [await make(), await make()] as const
    for (const { id } of locked) expectStatus(await owner.post(`/api/v2/workspaces/${id}/actions/lock`), 200)
    for (const address of [`/api/v2/workspaces/${locked[0].id}`, byName(locked[1])]) {
      const refused = await owner.post(`${address}/actions/safe-delete`)
      expect(refused.status).toBe(409)
      expect(refused.body.errors[0]).toMatchObject({
        title: 'conflict',
        detail: expect.stringContaining('locked'),
      })
      expect(await owner.delete(address)).toMatchObject({ status: 204, text: '' })
      expect((await owner.delete(address)).status).toBe(404)
    }
    const free = [await make(), await make()] as const
    for (const address of [`/api/v2/workspaces/${free[0].id}`, byName(free[1])]) {
      expect(await owner.post(`${address}/actions/safe-delete`)).toMatchObject({ status: 204, text: '' })
      expect((await owner.post(`${address}/actions/safe-delete`)).status).toBe(404)
    }
    expect((await owner.get(`${path}/workspaces`)).body.data).toEqual([])
  })
})
