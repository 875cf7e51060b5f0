import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Answer, type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { bindings, document, inProject, newProject, newWorkspace, tags } from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('workspaces', attributes, relationships)
const names = (answer: Answer): string[] =>
  answer.body.data.map((item: { attributes: { name: string } }) => item.attributes.name)

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
        permissions: { ...all(true), 'can-manage-hyok': false },
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

  test('are listed by name, searched and sorted, in pages', async () => {
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
    await owner.patch(`/api/v2/workspaces/${id}`, body({}, { 'tag-bindings': bindings({}) }))
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

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const list = `${path}/workspaces`
    const wrong = await owner.post(
      list,
      body(
        {
          name: 'no spaces',
          'execution-mode': 'agent',
          'terraform-version': 'newest',
          'working-directory': 'a/../../b',
          'auto-apply': 'yes',
          'source-url': 'ftp://x',
          'trigger-prefixes': [1],
          'auto-destroy-activity-duration': '1w',
          'vcs-repo': { identifier: 'a/b' },
        },
        { tags: tags('a b'), project: { data: null } },
      ),
    )
    expect(wrong.status).toBe(422)
    expect(violations(wrong)).toEqual([
      {
        pointer: '/data/attributes/auto-apply',
        detail: 'Auto apply must be a boolean',
      },
      {
        pointer: '/data/attributes/auto-destroy-activity-duration',
        detail: expect.stringContaining('has an incorrect format'),
      },
      { pointer: '/data/attributes/execution-mode', detail: 'Execution mode must be remote or local' },
      { pointer: '/data/attributes/name', detail: expect.stringContaining('Name is invalid') },
      { pointer: '/data/attributes/source-url', detail: expect.stringContaining('http or https') },
      { pointer: '/data/attributes/terraform-version', detail: expect.stringContaining('such as 1.9.8') },
      { pointer: '/data/attributes/trigger-prefixes/0', detail: 'Trigger prefixes must be a string' },
      { pointer: '/data/attributes/vcs-repo', detail: 'Vcs repo must be null' },
      {
        pointer: '/data/attributes/working-directory',
        detail: expect.stringContaining('inside the configuration'),
      },
      { pointer: '/data/relationships/project/data', detail: 'Data must be an object' },
      {
        pointer: '/data/relationships/tags/data/0/attributes/name',
        detail: expect.stringContaining('Name is invalid'),
      },
    ])
    const together = body({
      name: 'x',
      'trigger-prefixes': ['/a'],
      'trigger-patterns': ['/b'],
      'auto-destroy-at': 'tomorrow',
    })
    expect(violations(await owner.post(list, together))).toEqual([
      { pointer: '/data/attributes/auto-destroy-at', detail: expect.stringContaining('ISO 8601') },
      { pointer: '/data/attributes/trigger-patterns', detail: expect.stringContaining('together') },
    ])
    expect((await owner.post(list, body({ name: 'x'.repeat(91) }))).status).toBe(422)
    expect((await owner.post(list, body({ name: 'x'.repeat(90) }))).status).toBe(201)
    expect(violations(await owner.post(list, body({})))).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
    ])
    await newWorkspace(owner, path, { name: 'taken' })
    const { id } = await newWorkspace(owner, path, { name: 'other' })
    const taken = [{ pointer: '/data/attributes/name', detail: 'Name has already been taken' }]
    expect(violations(await owner.post(list, body({ name: 'Taken' })))).toEqual(taken)
    expect(violations(await owner.patch(`/api/v2/workspaces/${id}`, body({ name: 'taken' })))).toEqual(taken)
    const elsewhere = await server.organization()
    await newWorkspace(elsewhere.owner, elsewhere.path, { name: 'taken' })
  })

  test('race: of several creates of one name exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`${path}/workspaces`, body({ name: 'race' }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('open to those with the right only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newWorkspace(owner, path, { name: 'secret' })
    const addresses = [`/api/v2/workspaces/${id}`, `${path}/workspaces/secret`]
    const reads = (client: Client) =>
      Promise.all([`${path}/workspaces`, ...addresses].map(async (each) => (await client.get(each)).status))
    const writes = (client: Client) =>
      Promise.all([
        client.post(`${path}/workspaces`, {}),
        ...addresses.map((each) => client.patch(each, {})),
        client.patch(`${path}/workspaces/none`, {}),
      ]).then((answers) => answers.map((answer) => answer.status))
    const [no, readable] = [
      [404, 404, 404],
      [200, 200, 200],
    ]
    const [closed, writable] = [
      [404, 404, 404, 404],
      [422, 422, 422, 404],
    ]
    for (const client of [await server.user(), await server.member(organization)]) {
      expect([await reads(client), await writes(client)]).toEqual([no, closed])
      for (const address of addresses) {
        expect((await client.delete(address)).status).toBe(404)
        expect((await client.post(`${address}/actions/safe-delete`)).status).toBe(404)
      }
    }
    const reader = await server.member(organization, ['read-workspaces'])
    expect([await reads(reader), await writes(reader)]).toEqual([readable, closed])
    for (const address of addresses) {
      expect((await reader.delete(address)).status).toBe(404)
      expect((await reader.post(`${address}/actions/safe-delete`)).status).toBe(404)
    }
    const shown = (await reader.get(addresses[0] as string)).body.data.attributes.permissions
    expect(shown).toEqual({
      ...all(false),
      'can-manage-hyok': false,
      'can-read-assessment-results': true,
      'can-read-run': true,
      'can-read-settings': true,
      'can-read-state-outputs': true,
      'can-read-state-versions': true,
      'can-read-variable': true,
    })
    const team = await server.teamToken(organization, ['manage-workspaces'])
    expect([await reads(team), await writes(team)]).toEqual([readable, writable])
    const ofTeam = (await team.get(addresses[0] as string)).body.data.attributes.permissions
    expect(ofTeam).toEqual({ ...all(true), 'can-force-delete': false, 'can-manage-hyok': false })
    const token = await server.organizationToken(organization)
    expect([await reads(token), await writes(token)]).toEqual([readable, writable])
    expect((await server.nobody.get(addresses[0] as string)).status).toBe(401)
  })
})

/** Every permission of a workspace that is shown. */
function all(value: boolean): Record<string, boolean> {
  const shown = [
    'can-create-state-versions',
    'can-destroy',
    'can-force-delete',
    'can-force-unlock',
    'can-lock',
    'can-manage-assessments',
    'can-manage-ephemeral-workspaces',
    'can-manage-hyok',
    'can-manage-run-tasks',
    'can-manage-tags',
    'can-queue-apply',
    'can-queue-destroy',
    'can-queue-run',
    'can-read-assessment-results',
    'can-read-run',
    'can-read-settings',
    'can-read-state-outputs',
    'can-read-state-versions',
    'can-read-variable',
    'can-unlock',
    'can-update',
    'can-update-variable',
  ]
  return Object.fromEntries(shown.map((name) => [name, value]))
}
