import { many, one, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import * as actions from './actions.ts'
import { toResource } from './resource.ts'
import { Comment, ShownCapacity, ShownQueuePosition, ShownRun } from './schema.ts'
import * as service from './service.ts'
import * as waiting from './waiting.ts'

const doc = documents('Runs', 'Plans of changes to infrastructure, and the changes themselves.')

const accepted = { 202: { ...NOTHING, description: 'It is done, or under way. The answer has no body.' } }
const failures = { conflict: 'The run is in a state in which this cannot be done.' }

/** What may be done with a run, by whom. */
const ACTIONS = [
  {
    name: 'apply',
    permission: 'runs:apply',
    act: actions.apply,
    summary: 'Confirm the plan of a run, and apply it',
  },
  { name: 'discard', permission: 'runs:apply', act: actions.discard, summary: 'Give up a run that waits' },
  { name: 'cancel', permission: 'runs:queue', act: actions.cancel, summary: 'Stop a run gently' },
  {
    name: 'force-cancel',
    permission: 'runs:force',
    act: actions.forceCancel,
    summary: 'Stop a canceled run at once, whatever it leaves behind',
  },
  {
    name: 'force-execute',
    permission: 'runs:force',
    act: actions.forceExecute,
    summary: 'Give up all runs before a waiting one, so that it is next',
  },
] as const

const docs = {
  position: doc(
    'showQueuePosition',
    'Say what a run waits for',
    { 200: answerOne(ShownQueuePosition) },
    { description: 'Not part of the public API that Plinth follows.' },
  ),
  queue: doc('showRunQueue', 'List the unfinished runs of an organization, in order', {
    200: answerPage(ShownRun),
  }),
  capacity: doc('showCapacity', 'Count the runs of an organization that wait and that are carried out', {
    200: answerOne(ShownCapacity),
  }),
}

export const actionRoutes: Routes = (app) => {
  for (const { name, permission, act, summary } of ACTIONS) {
    const id = `${name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Run`
    app.post(
      `/api/v2/runs/:id/actions/${name}`,
      {
        schema: { body: Comment },
        config: {
          doc: doc(id, summary, accepted, { failures }),
          access: (ctx, path) => service.get(ctx, path.id, permission),
        },
      },
      async ({ ctx, path, body }, reply) => {
        await act(ctx, path.id, body?.comment ?? undefined)
        return reply.code(202).send()
      },
    )
  }

  app.get('/api/v2/runs/:id/queue-position', { config: { doc: docs.position } }, async ({ ctx, path }) => {
    const { run, waiting: found } = await waiting.explain(ctx, path.id)
    return one({
      id: run.id,
      type: 'queue-positions',
      attributes: {
        'waits-for': found.waitsFor,
        reason: found.reason,
        position: found.position,
        since: found.since,
      },
      relationships: { run: toOne('runs', run.id), 'blocked-by': toOne('runs', found.blockedBy) },
    })
  })

  const organization = '/api/v2/organizations/:organization_name'
  app.get(
    `${organization}/runs/queue`,
    { config: { doc: docs.queue } },
    async ({ ctx, path, page, href }) => {
      const found = await waiting.queueOf(ctx, path.organization_name, page)
      return many(found, href, ({ run, position }) => toResource(ctx, run, position))
    },
  )

  app.get(`${organization}/capacity`, { config: { doc: docs.capacity } }, async ({ ctx, path }) => {
    const { name, pending, running } = await waiting.capacityOf(ctx, path.organization_name)
    return one({
      id: name,
      type: 'organization-capacity',
      attributes: { pending, running },
      links: { self: `/api/v2/organizations/${name}/capacity` },
    })
  })
}
