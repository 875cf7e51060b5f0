import { describe, expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { newRun, runDocument, SMALL, slug, uploadConfiguration } from '../../../test/runs.ts'

// No worker takes the runs of this server: what can be seen here is what happens without one.
onEachDialect(
  'runs',
  (server) => {
    const setUp = async (attributes: object = {}) => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = await newWorkspace(owner, path, attributes)
      const configuration = await uploadConfiguration(owner, workspace.id)
      return { organization, owner, workspace, configuration }
    }
    const statusOf = async (client: ReturnType<typeof server.as>, id: string) =>
      (await client.get(`/api/v2/runs/${id}`)).body.data.attributes.status

    test('are made, queued and shown', async () => {
      const { owner, workspace, configuration, organization } = await setUp()
      const variables = [{ key: 'region', value: '"eu-1"' }]
      const attributes = {
        message: 'First',
        'is-destroy': false,
        variables,
        'target-addrs': ['terraform_data.a'],
      }
      const created = expectStatus(
        await owner.post('/api/v2/runs', runDocument(workspace.id, attributes, configuration)),
        201,
      ).body.data
      expect(created).toEqual({
        id: expect.stringMatching(/^run-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'runs',
        attributes: {
          actions: {
            'is-cancelable': true,
            'is-confirmable': false,
            'is-discardable': false,
            'is-force-cancelable': false,
          },
          'allow-config-generation': false,
          'allow-empty-apply': false,
          'auto-apply': false,
          'canceled-at': null,
          'created-at': expect.stringMatching(/Z$/),
          'debugging-mode': false,
          'force-cancel-available-at': null,
          'has-changes': false,
          'is-destroy': false,
          message: 'First',
          permissions: {
            'can-apply': true,
            'can-cancel': true,
            'can-comment': true,
            'can-discard': true,
            'can-force-cancel': true,
            'can-force-execute': true,
            'can-override-policy-check': false,
          },
          'plan-only': false,
          'position-in-queue': 0,
          refresh: true,
          'refresh-only': false,
          'replace-addrs': [],
          'save-plan': false,
          source: 'tfe-api',
          status: 'plan_queued',
          'status-timestamps': {
            'plan-queueable-at': expect.stringMatching(/\+00:00$/),
            'plan-queued-at': expect.stringMatching(/\+00:00$/),
          },
          'target-addrs': ['terraform_data.a'],
          'terraform-version': 'latest',
          'trigger-reason': 'manual',
          variables,
        },
        relationships: {
          apply: {
            data: { id: expect.stringMatching(/^apply-/), type: 'applies' },
            links: { related: expect.stringMatching(/^\/api\/v2\/applies\/apply-/) },
          },
          comments: { data: [], links: { related: expect.stringMatching(/comments$/) } },
          'configuration-version': {
            data: { id: configuration, type: 'configuration-versions' },
            links: { related: `/api/v2/configuration-versions/${configuration}` },
          },
          'confirmed-by': { data: null },
          'cost-estimate': { data: null },
          'created-by': { data: { id: owner.id, type: 'users' } },
          plan: {
            data: { id: expect.stringMatching(/^plan-/), type: 'plans' },
            links: { related: expect.stringMatching(/^\/api\/v2\/plans\/plan-/) },
          },
          'policy-checks': { data: [] },
          'run-events': { data: [], links: { related: expect.stringMatching(/run-events$/) } },
          'task-stages': { data: [] },
          workspace: { data: { id: workspace.id, type: 'workspaces' } },
        },
        links: { self: `/api/v2/runs/${created.id}` },
      })
      const shown = await owner.get(`/api/v2/runs/${created.id}?include=plan,apply,workspace,task_stages`)
      expect(shown.body.data.id).toBe(created.id)
      expect(shown.body.included.map(({ type }: { type: string }) => type).sort()).toEqual([
        'applies',
        'plans',
        'workspaces',
      ])
      const held = (await owner.get(`/api/v2/workspaces/${workspace.id}`)).body.data
      expect(held.attributes.locked).toBe(true)
      expect(held.relationships['locked-by'].data).toEqual({ id: created.id, type: 'runs' })
      expect(held.relationships['current-run'].data).toEqual({ id: created.id, type: 'runs' })

      const plan = (await owner.get(`/api/v2/plans/${created.relationships.plan.data.id}`)).body.data
      expect(plan.attributes).toMatchObject({ status: 'queued', 'has-changes': false })
      const apply = (await owner.get(`/api/v2/applies/${created.relationships.apply.data.id}`)).body.data
      expect(apply).toEqual({
        id: created.relationships.apply.data.id,
        type: 'applies',
        attributes: {
          status: 'pending',
          'execution-details': { mode: 'remote' },
          'status-timestamps': {},
          'log-read-url': expect.stringMatching(/^http/),
          'resource-additions': 0,
          'resource-changes': 0,
          'resource-destructions': 0,
          'resource-imports': 0,
          error: null,
        },
        relationships: { 'state-versions': { data: [] } },
        links: { self: `/api/v2/applies/${created.relationships.apply.data.id}` },
      })
      const errored = await owner.get(`/api/v2/applies/${apply.id}/errored-state`)
      expect(errored.status).toBe(404)
      for (const file of ['json-output', 'json-output-redacted', 'json-schema'])
        expect((await owner.get(`/api/v2/plans/${plan.id}/${file}`)).status).toBe(204)
      expect(organization.name).toBeTruthy()
    })

    test('wait for one another, one at a time in a workspace', async () => {
      const { owner, workspace, organization } = await setUp()
      const [first, second, third] = [
        await newRun(owner, workspace.id),
        await newRun(owner, workspace.id),
        await newRun(owner, workspace.id),
      ]
      expect([first.attributes.status, second.attributes.status]).toEqual(['plan_queued', 'pending'])
      const speculative = await newRun(owner, workspace.id, { 'plan-only': true })
      expect(speculative.attributes.status).toBe('plan_queued')

      const position = (await owner.get(`/api/v2/runs/${third.id}/queue-position`)).body.data
      expect(position).toMatchObject({
        id: third.id,
        type: 'queue-positions',
        attributes: { 'waits-for': 'run', position: 2, since: expect.any(String) },
        relationships: { 'blocked-by': { data: { id: first.id, type: 'runs' } } },
      })
      const queue = (await owner.get(`${organization.path}/runs/queue`)).body.data
      expect(queue.map((run: typeof first) => [run.id, run.attributes['position-in-queue']])).toEqual(
        [first, second, third, speculative].map((run, index) => [run.id, index + 1]),
      )
      const capacity = (await owner.get(`${organization.path}/capacity`)).body.data
      expect(capacity).toMatchObject({ id: organization.name, attributes: { pending: 4, running: 0 } })

      expect((await owner.post(`/api/v2/runs/${first.id}/actions/cancel`, {})).status).toBe(202)
      expect([await statusOf(owner, first.id), await statusOf(owner, second.id)]).toEqual([
        'canceled',
        'plan_queued',
      ])
      expect(await statusOf(owner, third.id)).toBe('pending')
      const plan = (await owner.get(`/api/v2/plans/${first.relationships.plan.data.id}`)).body.data
      const apply = (await owner.get(`/api/v2/applies/${first.relationships.apply.data.id}`)).body.data
      expect([plan.attributes.status, apply.attributes.status]).toEqual(['canceled', 'unreachable'])
      const log = await (await fetch(plan.attributes['log-read-url'])).text()
      expect(log).toBe('\x02The run was canceled.\n\x03')
    })

    test('wait for a lock, and begin when it is gone', async () => {
      const { owner, workspace } = await setUp()
      await owner.post(`/api/v2/workspaces/${workspace.id}/actions/lock`, {})
      const run = await newRun(owner, workspace.id)
      expect(run.attributes.status).toBe('pending')
      const position = (await owner.get(`/api/v2/runs/${run.id}/queue-position`)).body.data.attributes
      expect(position).toMatchObject({ 'waits-for': 'workspace', position: 1 })
      expect((await owner.post(`/api/v2/workspaces/${workspace.id}/actions/unlock`)).status).toBe(200)
      expect(await statusOf(owner, run.id)).toBe('plan_queued')
      const forced = await owner.post(`/api/v2/workspaces/${workspace.id}/actions/force-unlock`)
      expect([forced.status, forced.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining(`is locked by Run ${run.id}`),
      ])
      const unlocked = await owner.post(`/api/v2/workspaces/${workspace.id}/actions/unlock`)
      expect([unlocked.status, unlocked.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining('is locked by Run'),
      ])
      const deleted = await owner.post(`/api/v2/workspaces/${workspace.id}/actions/safe-delete`)
      expect([deleted.status, deleted.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining('locked'),
      ])
    })

    test('wait for their configuration', async () => {
      const { owner, workspace } = await setUp()
      const created = await owner.post(`/api/v2/workspaces/${workspace.id}/configuration-versions`, {
        data: { type: 'configuration-versions', attributes: { 'auto-queue-runs': false } },
      })
      const { id, attributes } = created.body.data
      const run = expectStatus(await owner.post('/api/v2/runs', runDocument(workspace.id, {}, id)), 201).body
        .data
      expect(run.attributes.status).toBe('pending')
      const position = (await owner.get(`/api/v2/runs/${run.id}/queue-position`)).body.data.attributes
      expect(position['waits-for']).toBe('configuration')
      const bytes = new Uint8Array(await slug(SMALL))
      expect((await fetch(attributes['upload-url'], { method: 'PUT', body: bytes })).status).toBe(200)
      expect(await statusOf(owner, run.id)).toBe('plan_queued')
    })

    test('begin by themselves when a configuration asks for it', async () => {
      const { owner, workspace } = await setUp()
      const id = await uploadConfiguration(owner, workspace.id, SMALL, { 'auto-queue-runs': true })
      const { data } = (await owner.get(`/api/v2/workspaces/${workspace.id}/runs`)).body
      expect(data).toHaveLength(1)
      expect(data[0].attributes.source).toBe('tfe-configuration-version')
      expect(data[0].relationships['configuration-version'].data.id).toBe(id)
      expect(data[0].relationships['created-by'].data.id).toBe(owner.id)
    })

    test('go first when they are forced to', async () => {
      const { owner, workspace } = await setUp()
      const lock = await owner.post(`/api/v2/workspaces/${workspace.id}/actions/lock`, {})
      expect(lock.status).toBe(200)
      const runs = [await newRun(owner, workspace.id), await newRun(owner, workspace.id)] as const
      expect((await owner.post(`/api/v2/runs/${runs[1].id}/actions/force-execute`, {})).status).toBe(202)
      expect(await statusOf(owner, runs[0].id)).toBe('discarded')
      await owner.post(`/api/v2/workspaces/${workspace.id}/actions/unlock`)
      expect(await statusOf(owner, runs[1].id)).toBe('plan_queued')
      const third = await newRun(owner, workspace.id)
      const refused = await owner.post(`/api/v2/runs/${third.id}/actions/force-execute`, {})
      expect([refused.status, refused.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining(`Run ${runs[1].id} is plan_queued`),
      ])
    })

    test('are listed, filtered and searched', async () => {
      const { owner, workspace, organization } = await setUp()
      const plan = await newRun(owner, workspace.id, { 'plan-only': true, message: 'Have a look' })
      const destroy = await newRun(owner, workspace.id, { 'is-destroy': true, message: 'Away with it' })
      const ids = async (query: string, path = `/api/v2/workspaces/${workspace.id}/runs`) => {
        const answer = expectStatus(await owner.get(`${path}?${query}`), 200)
        return answer.body.data.map(({ id }: { id: string }) => id)
      }
      expect(await ids('')).toEqual([destroy.id, plan.id])
      expect(await ids('filter[operation]=plan_only,save_plan')).toEqual([plan.id])
      expect(await ids('filter[operation]=destroy')).toEqual([destroy.id])
      expect(await ids('filter[operation]=plan_and_apply')).toEqual([])
      expect(await ids('filter[status]=pending,plan_queued')).toEqual([destroy.id, plan.id])
      expect(await ids('filter[status]=applied')).toEqual([])
      expect(await ids('filter[source]=tfe-api')).toHaveLength(2)
      expect(await ids('search[basic]=away')).toEqual([destroy.id])
      expect(await ids(`search[basic]=${plan.id}`)).toEqual([plan.id])
      expect(await ids(`search[user]=${owner.username}`)).toHaveLength(2)
      expect(await ids('search[user]=nobody')).toEqual([])
      expect(await ids('filter[timeframe]=year')).toHaveLength(2)
      expect(await ids('filter[timeframe]=2001')).toEqual([])
      const all = `${organization.path}/runs`
      expect(await ids('', all)).toEqual([destroy.id, plan.id])
      expect(await ids(`filter[workspace_names]=${workspace.attributes.name}`, all)).toHaveLength(2)
      expect(await ids('filter[workspace_names]=other', all)).toEqual([])
      expect(await ids('filter[status_group]=non_final', all)).toHaveLength(2)
      expect(await ids('filter[status_group]=final', all)).toEqual([])
      expect(await ids('filter[agent_pool_names]=none', all)).toEqual([])
      const second = await owner.get(`/api/v2/workspaces/${workspace.id}/runs?page[size]=1&page[number]=2`)
      expect(second.body.data.map(({ id }: { id: string }) => id)).toEqual([plan.id])
      expect(second.body.meta.pagination).toMatchObject({
        'current-page': 2,
        'next-page': null,
        'total-count': 2,
      })
      const beyond = await owner.get(`/api/v2/workspaces/${workspace.id}/runs?page[number]=9`)
      expect([beyond.status, beyond.body.data]).toEqual([200, []])
      for (const query of ['filter[timeframe]=soon', 'filter[status_group]=odd'])
        expect((await owner.get(`${all}?${query}`)).status).toBe(400)
    })

    describe('are refused', () => {
      test('with every reason at once', async () => {
        const { owner, workspace } = await setUp({ 'allow-destroy-plan': false })
        const answer = await owner.post(
          '/api/v2/runs',
          runDocument(workspace.id, {
            'is-destroy': true,
            'refresh-only': true,
            refresh: false,
            'replace-addrs': ['terraform_data.a'],
            'terraform-version': '1.9.8',
          }),
        )
        expect(answer.status).toBe(422)
        expect(pointers(answer)).toEqual([
          '/data/attributes/is-destroy',
          '/data/attributes/refresh',
          '/data/attributes/refresh-only',
          '/data/attributes/replace-addrs',
          '/data/attributes/terraform-version',
        ])
      })

      test('without a configuration, or with that of another workspace', async () => {
        const { owner, organization, configuration } = await setUp()
        const other = await newWorkspace(owner, organization.path)
        const at = '/data/relationships/configuration-version/data/id'
        const none = await owner.post('/api/v2/runs', runDocument(other.id))
        expect([none.status, violations(none)]).toEqual([
          422,
          [{ pointer: at, detail: expect.stringContaining('Configuration version is missing') }],
        ])
        const foreign = await owner.post('/api/v2/runs', runDocument(other.id, {}, configuration))
        expect([foreign.status, pointers(foreign)]).toEqual([422, [at]])
      })

      test('where runs take place elsewhere', async () => {
        const { owner, workspace } = await setUp({ 'execution-mode': 'local' })
        const answer = await owner.post('/api/v2/runs', runDocument(workspace.id))
        expect([answer.status, pointers(answer)]).toEqual([422, ['/data/relationships/workspace/data/id']])
      })

      test('when their shape is wrong', async () => {
        const { owner, workspace } = await setUp()
        const wrong = runDocument(workspace.id, {
          'is-destroy': 'yes',
          variables: [{ key: '1', value: '1' }],
        })
        const answer = await owner.post('/api/v2/runs', wrong)
        expect([answer.status, pointers(answer)]).toEqual([
          422,
          ['/data/attributes/is-destroy', '/data/attributes/variables/0/key'],
        ])
        const homeless = await owner.post('/api/v2/runs', { data: { type: 'runs', attributes: {} } })
        expect([homeless.status, pointers(homeless)]).toEqual([422, ['/data/relationships/workspace']])
        expect((await server.nobody.post('/api/v2/runs', wrong)).status).toBe(401)
        const plain = await owner.send('POST', '/api/v2/runs', wrong, { 'content-type': 'text/plain' })
        expect(plain.status).toBe(415)
        expect((await owner.send('POST', '/api/v2/runs', '{')).status).toBe(400)
      })
    })

    test('cannot do what their state does not allow', async () => {
      const { owner, workspace } = await setUp()
      const run = await newRun(owner, workspace.id)
      for (const action of ['apply', 'discard', 'force-cancel', 'force-execute']) {
        const answer = await owner.post(`/api/v2/runs/${run.id}/actions/${action}`, {})
        expect([action, answer.status]).toEqual([action, 409])
      }
      const both = await Promise.all(
        [1, 2, 3].map(() => owner.post(`/api/v2/runs/${run.id}/actions/cancel`, {})),
      )
      expect(both.map(({ status }) => status).sort()).toEqual([202, 409, 409])
    })

    test('that are made at the same moment hold the workspace one at a time', async () => {
      const { owner, workspace } = await setUp()
      const runs = await Promise.all(Array.from({ length: 8 }, () => newRun(owner, workspace.id)))
      const statuses = await Promise.all(runs.map(({ id }) => statusOf(owner, id)))
      expect(statuses.sort()).toEqual([...Array(7).fill('pending'), 'plan_queued'])
    })

    test('are nothing to strangers, and to be seen only for members who may not start them', async () => {
      const { owner, workspace, organization } = await setUp()
      const run = await newRun(owner, workspace.id)
      const stranger = await server.user()
      const reader = await server.member(organization, ['read-workspaces'])
      const organizationToken = await server.organizationToken(organization)
      const paths = [
        `/api/v2/runs/${run.id}`,
        `/api/v2/runs/${run.id}/queue-position`,
        `/api/v2/workspaces/${workspace.id}/runs`,
        `${organization.path}/runs`,
        `${organization.path}/runs/queue`,
        `${organization.path}/capacity`,
        `/api/v2/plans/${run.relationships.plan.data.id}`,
        `/api/v2/applies/${run.relationships.apply.data.id}`,
      ]
      for (const path of paths) {
        expect([path, (await stranger.get(path)).status]).toEqual([path, 404])
        expect([path, (await server.nobody.get(path)).status]).toEqual([path, 401])
        expect([path, (await reader.get(path)).status]).toEqual([path, 200])
      }
      for (const client of [stranger, reader, organizationToken]) {
        expect((await client.post('/api/v2/runs', runDocument(workspace.id))).status).toBe(404)
        for (const action of ['apply', 'discard', 'cancel', 'force-cancel', 'force-execute'])
          expect((await client.post(`/api/v2/runs/${run.id}/actions/${action}`, {})).status).toBe(404)
      }
      const member = await server.member(organization)
      expect((await member.get(`${organization.path}/runs`)).body.data).toEqual([])
      expect((await member.get(`/api/v2/runs/${run.id}`)).status).toBe(404)
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
