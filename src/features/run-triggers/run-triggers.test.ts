import { expect, test } from 'vitest'
import { applyRun } from '../../../test/applied.ts'
import { type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { newRun, uploadConfiguration } from '../../../test/runs.ts'
import { setOffRuns } from './jobs.ts'
import * as service from './service.ts'

const from = (id: unknown) =>
  document('run-triggers', {}, { sourceable: { data: { id, type: 'workspaces' } } })

const POINTER = '/data/relationships/sourceable/data/id'

onEachDialect(
  'run triggers',
  (server) => {
    const inOrganization = async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = (attributes: object = {}) => newWorkspace(owner, path, attributes)
      return { organization, owner, workspace }
    }

    const listOf = ({ id }: { id: string }) => `/api/v2/workspaces/${id}/run-triggers`

    const connect = async (owner: Client, target: { id: string }, source: { id: string }) =>
      expectStatus(await owner.post(listOf(target), from(source.id)), 201).body.data

    const list = async (owner: Client, workspace: { id: string }, type: string) =>
      expectStatus(await owner.get(`${listOf(workspace)}?filter[run-trigger][type]=${type}`), 200).body.data

    const runsOf = async (owner: Client, { id }: { id: string }) =>
      expectStatus(await owner.get(`/api/v2/workspaces/${id}/runs`), 200).body.data

    test('are made, listed from both ends, shown and removed', async () => {
      const { owner, workspace } = await inOrganization()
      const [target, source] = [await workspace(), await workspace()]
      const created = await connect(owner, target, source)
      const to = ({ id }: { id: string }) => ({
        data: { id, type: 'workspaces' },
        links: { related: `/api/v2/workspaces/${id}` },
      })
      expect(created).toEqual({
        id: expect.stringMatching(/^rt-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'run-triggers',
        attributes: {
          'workspace-name': target.attributes.name,
          'sourceable-name': source.attributes.name,
          'created-at': expect.stringMatching(/Z$/),
        },
        relationships: { workspace: to(target), sourceable: to(source) },
        links: { self: `/api/v2/run-triggers/${created.id}` },
      })
      expect(await list(owner, target, 'inbound')).toEqual([created])
      expect(await list(owner, source, 'outbound')).toEqual([created])
      expect(await list(owner, target, 'outbound')).toEqual([])
      const shown = await owner.get(`${created.links.self}?include=workspace,sourceable`)
      expect(shown.body.data).toEqual(created)
      expect(shown.body.included.map(({ id }: { id: string }) => id).sort()).toEqual(
        [target.id, source.id].sort(),
      )
      expect(await owner.delete(created.links.self)).toMatchObject({ status: 204, text: '' })
      expect((await owner.get(created.links.self)).status).toBe(404)
      expect((await owner.delete(created.links.self)).status).toBe(404)
      expect(await list(owner, target, 'inbound')).toEqual([])
    })

    test('come in pages', async () => {
      const { owner, workspace } = await inOrganization()
      const target = await workspace()
      for (let made = 0; made < 3; made += 1) await connect(owner, target, await workspace())
      const address = `${listOf(target)}?filter[run-trigger][type]=inbound&page[size]=2`
      const second = await owner.get(`${address}&page[number]=2&include=sourceable`)
      expect(second.body.data).toHaveLength(1)
      expect(second.body.included).toHaveLength(1)
      expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': null })
      expect((await owner.get(`${address}&page[number]=9`)).body.data).toEqual([])
    })

    test('are refused with pointers, in order', async () => {
      const { owner, workspace } = await inOrganization()
      const [target, source] = [await workspace(), await workspace()]
      const none = '/api/v2/workspaces/ws-none/run-triggers'
      expect((await server.nobody.post(none, {})).status).toBe(401)
      expect((await owner.post(none, {})).status).toBe(404)
      expect((await owner.get(none)).status).toBe(404)
      expect((await owner.send('POST', listOf(target), '{}', { 'content-type': 'text/plain' })).status).toBe(
        415,
      )
      expect((await owner.send('POST', listOf(target), '{')).status).toBe(400)
      const empty = await owner.post(listOf(target), { data: { type: 'run-triggers' } })
      expect(violations(empty)).toEqual([
        { pointer: '/data/relationships/sourceable', detail: "Sourceable can't be blank" },
      ])
      for (const type of ['', 'oubound']) {
        const answer = await owner.get(`${listOf(target)}?filter[run-trigger][type]=${type}`)
        expect([answer.status, answer.body.errors[0].source]).toEqual([
          400,
          { parameter: 'filter[run-trigger][type]' },
        ])
      }
      const { owner: other, workspace: elsewhere } = await inOrganization()
      const foreign = await elsewhere()
      expect(await list(other, foreign, 'inbound')).toEqual([])
      await connect(owner, target, source)
      for (const [id, detail] of [
        [target.id, 'Sourceable must be another workspace'],
        [foreign.id, 'Sourceable does not exist in the organization of the workspace'],
        ['ws-none', 'Sourceable does not exist in the organization of the workspace'],
        [source.id, 'Sourceable has already been taken'],
      ]) {
        const answer = await owner.post(listOf(target), from(id))
        expect([answer.status, violations(answer)]).toEqual([422, [{ pointer: POINTER, detail }]])
      }
    })

    test('are at most twenty into one workspace, also when several come at once', async () => {
      const { owner, workspace } = await inOrganization()
      const target = await workspace()
      for (let made = 0; made < 18; made += 1) await connect(owner, target, await workspace())
      const more = await Promise.all([1, 2, 3, 4].map(() => workspace()))
      const answers = await Promise.all(more.map(({ id }) => owner.post(listOf(target), from(id))))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422])
      const refused = answers.find(({ status }) => status === 422)
      expect(refused?.body.errors[0]).toMatchObject({
        detail: 'Sourceable is one too many: a workspace has at most 20',
        source: { pointer: POINTER },
      })
    })

    test('race: of several that are the same exactly one is made', async () => {
      const { owner, workspace } = await inOrganization()
      const [target, source] = [await workspace(), await workspace()]
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => owner.post(listOf(target), from(source.id))),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422])
    })

    test('are managed by those who manage workspaces, and seen by those who may read runs', async () => {
      const { organization, owner, workspace } = await inOrganization()
      const [target, source, another] = [await workspace(), await workspace(), await workspace()]
      const { links } = await connect(owner, target, source)
      const reader = await server.member(organization, ['read-workspaces'])
      expect((await reader.get(links.self)).status).toBe(200)
      expect(await list(reader, target, 'inbound')).toHaveLength(1)
      expect((await reader.post(listOf(target), from(another.id))).status).toBe(404)
      expect((await reader.delete(links.self)).status).toBe(404)
      for (const who of [await server.user(), await server.member(organization)]) {
        expect((await who.get(`${listOf(target)}?filter[run-trigger][type]=inbound`)).status).toBe(404)
        expect((await who.get(links.self)).status).toBe(404)
        expect((await who.post(listOf(target), from(another.id))).status).toBe(404)
        expect((await who.delete(links.self)).status).toBe(404)
      }
    })

    test('go with either of their workspaces', async () => {
      const { owner, workspace } = await inOrganization()
      const [target, source] = [await workspace(), await workspace()]
      const { links } = await connect(owner, target, source)
      await owner.delete(`/api/v2/workspaces/${source.id}`)
      expect((await owner.get(links.self)).status).toBe(404)
      expect(await list(owner, target, 'inbound')).toEqual([])
    })

    test('make a run of each workspace when a run is applied, once, and none before', async () => {
      const { owner, workspace } = await inOrganization()
      const source = await workspace()
      const targets = [
        await workspace({ 'auto-apply': true }),
        await workspace({ 'auto-apply-run-trigger': true }),
      ]
      const bare = await workspace()
      for (const target of [...targets, bare]) await connect(owner, target, source)
      for (const each of [source, ...targets]) await uploadConfiguration(owner, each.id)
      const run = await newRun(owner, source.id)
      expect(await runsOf(owner, targets[0])).toEqual([])
      const begun = await asSecondServer(server, ({ db }) =>
        db.selectFrom('jobs').select('payload').where('name', '=', setOffRuns.name).execute(),
      )
      expect(begun).toEqual([])
      await applyRun(server, owner, run.id)
      await expect
        .poll(async () => (await Promise.all(targets.map((each) => runsOf(owner, each)))).flat().length, {
          timeout: 10_000,
        })
        .toBe(2)
      await asSecondServer(server, (ctx) => service.setOff(ctx, run.id))
      for (const [target, autoApply] of [
        [targets[0], false],
        [targets[1], true],
      ] as const) {
        expect(await runsOf(owner, target)).toMatchObject([
          {
            attributes: {
              source: 'tfe-run-trigger',
              message: `Triggered by the run ${run.id} of the workspace ${source.attributes.name}`,
              'auto-apply': autoApply,
            },
            relationships: { 'created-by': { data: { id: owner.id } } },
          },
        ])
      }
      expect(await runsOf(owner, bare)).toEqual([])
      expect(server.logLines.filter((line) => line.includes('a run was not set off')).length).toBeGreaterThan(
        0,
      )
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
