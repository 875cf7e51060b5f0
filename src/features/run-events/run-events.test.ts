import { expect, test } from 'vitest'
import { applyRun } from '../../../test/applied.ts'
import { onEachDialect } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { newRun, uploadConfiguration } from '../../../test/runs.ts'

interface Event {
  attributes: { action: string; 'created-at': string }
  relationships: { actor: { data: { id: string } | null } }
}

onEachDialect(
  'run events',
  (server) => {
    const aRun = async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = await newWorkspace(owner, path)
      await uploadConfiguration(owner, workspace.id)
      const run = await newRun(owner, workspace.id)
      return { organization, owner, run, list: `/api/v2/runs/${run.id}/run-events` }
    }

    const actionsOf = (events: Event[]) =>
      events.map(({ attributes, relationships }) => [attributes.action, relationships.actor.data?.id ?? null])

    test('tell what happened to a run, in order, and who did it', async () => {
      const { owner, run, list } = await aRun()
      const [queued] = (await owner.get(list)).body.data
      expect(queued).toEqual({
        id: expect.stringMatching(/^re-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'run-events',
        attributes: {
          action: 'plan_queued',
          description: null,
          'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
        relationships: { actor: { data: null }, comment: { data: null } },
        links: { self: `/api/v2/run-events/${queued.id}` },
      })
      expect((await owner.get(queued.links.self)).body.data).toEqual(queued)
      await applyRun(server, owner, run.id)
      const events: Event[] = (await owner.get(list)).body.data
      expect(actionsOf(events)).toEqual([
        ['plan_queued', null],
        ['planning', null],
        ['planned', null],
        ['confirmed', owner.id],
        ['apply_queued', null],
        ['applying', null],
        ['applied', null],
      ])
      const moments = events.map(({ attributes }) => attributes['created-at'])
      expect(moments).toEqual(moments.toSorted())
    })

    test('tell what was asked for and what was said', async () => {
      const { organization, owner, run, list } = await aRun()
      const team = await server.teamToken(organization, ['manage-workspaces'])
      await team.post(`/api/v2/runs/${run.id}/comments`, document('comments', { body: 'Hm' }))
      await owner.post(`/api/v2/runs/${run.id}/actions/cancel`, { comment: 'Enough' })
      const account = (await team.get('/api/v2/account/details')).body.data.id
      const answer = await owner.get(`${list}?include=actor,comment`)
      expect(actionsOf(answer.body.data)).toEqual([
        ['plan_queued', null],
        ['commented', account],
        ['canceled', owner.id],
        ['commented', owner.id],
      ])
      const bodies = answer.body.included.flatMap(({ attributes }: { attributes: { body?: string } }) =>
        attributes.body === undefined ? [] : attributes.body,
      )
      expect(bodies.sort()).toEqual(['Enough', 'Hm'])
      const users = answer.body.included.filter(({ type }: { type: string }) => type === 'users')
      expect(users).toMatchObject([{ id: owner.id, attributes: { username: owner.username } }])
      expect((await owner.get(`${list}?include=nonsense`)).status).toBe(400)
    })

    test('are seen by those who may read runs, and by nobody else', async () => {
      const { organization, owner, list } = await aRun()
      const reader = await server.member(organization, ['read-workspaces'])
      const [event] = (await reader.get(list)).body.data
      expect((await reader.get(event.links.self)).status).toBe(200)
      for (const who of [await server.user(), await server.member(organization)]) {
        expect((await who.get(list)).status).toBe(404)
        expect((await who.get(event.links.self)).status).toBe(404)
      }
      expect((await server.nobody.get(list)).status).toBe(401)
      expect((await owner.get('/api/v2/run-events/re-none')).status).toBe(404)
      expect((await owner.get('/api/v2/runs/run-none/run-events')).status).toBe(404)
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
