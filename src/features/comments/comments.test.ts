import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { newRun, uploadConfiguration } from '../../../test/runs.ts'

const body = (text: unknown) => document('comments', { body: text })

onEachDialect(
  'comments',
  (server) => {
    const aRun = async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = await newWorkspace(owner, path)
      await uploadConfiguration(owner, workspace.id)
      const run = await newRun(owner, workspace.id)
      return { organization, owner, run, list: `/api/v2/runs/${run.id}/comments` }
    }

    test('are made, shown and listed', async () => {
      const { owner, run, list } = await aRun()
      const created = expectStatus(await owner.post(list, body('Looks good')), 201).body.data
      expect(created).toEqual({
        id: expect.stringMatching(/^wsc-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'comments',
        attributes: { body: 'Looks good', 'created-at': expect.stringMatching(/Z$/) },
        relationships: {
          'created-by': { data: { id: owner.id, type: 'users' } },
          'run-event': {
            data: { id: expect.stringMatching(/^re-/), type: 'run-events' },
            links: { related: expect.stringMatching(/^\/api\/v2\/run-events\/re-/) },
          },
        },
        links: { self: `/api/v2/comments/${created.id}` },
      })
      expect((await owner.get(created.links.self)).body.data).toEqual(created)
      expect((await owner.get(list)).body.data).toEqual([created])
      const event = await owner.get(`${created.relationships['run-event'].links.related}?include=comment`)
      expect(event.body.data).toMatchObject({
        attributes: { action: 'commented' },
        relationships: { actor: { data: { id: owner.id } }, comment: { data: { id: created.id } } },
      })
      expect(event.body.included).toEqual([created])
      const withAll = await owner.get(`${created.links.self}?include=run_event,created_by`)
      expect(withAll.body.included.map(({ type }: { type: string }) => type).sort()).toEqual([
        'run-events',
        'users',
      ])
      expect((await owner.get(`/api/v2/runs/${run.id}`)).status).toBe(200)
    })

    test('are what is said with an action, too', async () => {
      const { owner, run, list } = await aRun()
      const canceled = await owner.post(`/api/v2/runs/${run.id}/actions/cancel`, { comment: 'Not today' })
      expect(canceled.status).toBe(202)
      const [comment] = (await owner.get(list)).body.data
      expect(comment).toMatchObject({ attributes: { body: 'Not today' } })
      const { owner: other, run: silent, list: none } = await aRun()
      expect((await other.post(`/api/v2/runs/${silent.id}/actions/cancel`, {})).status).toBe(202)
      expect((await other.get(none)).body.data).toEqual([])
    })

    test('come in pages, the oldest first', async () => {
      const { owner, list } = await aRun()
      for (const text of ['one', 'two', 'three']) await owner.post(list, body(text))
      const second = await owner.get(`${list}?page[number]=2&page[size]=2&include=created_by`)
      expect(second.body.data).toMatchObject([{ attributes: { body: 'three' } }])
      expect(second.body.included).toMatchObject([{ id: owner.id }])
      expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': null })
      expect((await owner.get(`${list}?page[number]=9&page[size]=2`)).body.data).toEqual([])
    })

    test('are refused with pointers, in order', async () => {
      const { owner, list } = await aRun()
      expect((await server.nobody.post('/api/v2/runs/run-none/comments', {})).status).toBe(401)
      expect((await owner.post('/api/v2/runs/run-none/comments', {})).status).toBe(404)
      expect((await owner.send('POST', list, '{}', { 'content-type': 'application/json' })).status).toBe(415)
      expect((await owner.send('POST', list, '{')).status).toBe(400)
      expect(violations(await owner.post(list, { data: {} }))).toEqual([
        { pointer: '/data/attributes/body', detail: "Body can't be blank" },
        { pointer: '/data/type', detail: "Type can't be blank" },
      ])
      for (const text of ['', ' ', null, 7, 'x'.repeat(20_000)]) {
        const answer = await owner.post(list, body(text))
        expect([answer.status, violations(answer)[0]?.pointer]).toEqual([422, '/data/attributes/body'])
      }
    })

    test('are made by those who may queue runs, teams among them, and seen by those who may read them', async () => {
      const { organization, owner, list } = await aRun()
      const team = await server.teamToken(organization, ['manage-workspaces'])
      const made = expectStatus(await team.post(list, body('From a team')), 201).body.data
      const account = (await team.get('/api/v2/account/details')).body.data
      expect(made.relationships['created-by'].data).toEqual({ id: account.id, type: 'users' })
      const reader = await server.member(organization, ['read-workspaces'])
      expect((await reader.get(made.links.self)).body.data).toEqual(made)
      expect((await reader.post(list, body('x'))).status).toBe(404)
      for (const who of [await server.user(), await server.member(organization)]) {
        expect((await who.get(list)).status).toBe(404)
        expect((await who.get(made.links.self)).status).toBe(404)
        expect((await who.post(list, body('x'))).status).toBe(404)
      }
      expect((await owner.get('/api/v2/comments/wsc-none')).status).toBe(404)
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
