import type { Outcome as PhaseOutcome } from '../../engine/channel.ts'
import { JSON_TYPE, takeJson } from '../../http/bodies.ts'
import type { App, Routes } from '../../http/routes.ts'
import { answerPlain, NOTHING } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import * as executions from '../executions/service.ts'
import * as service from './service.ts'
import {
  AGENT,
  AGENTS,
  config,
  doc,
  EXECUTION,
  LOST,
  LogQuery,
  Outcome,
  Registered,
  Registration,
  Report,
  ShownAssignment,
  Stop,
  seal,
} from './wire-schema.ts'

const docs = {
  register: doc(
    'registerAgent',
    'Begin to work as an agent of the pool',
    { 201: answerPlain('It is known now.', Registered) },
    { consumes: JSON_TYPE },
  ),
  leave: doc('leaveAgent', 'End working as an agent', { 204: NOTHING }),
  claim: doc(
    'claimExecution',
    'Take the next phase of a run to carry out, and wait for one up to twenty seconds',
    {
      200: answerPlain('The agent holds it from now on.', ShownAssignment),
      204: { ...NOTHING, description: 'There is none.' },
    },
  ),
  heartbeat: doc(
    'keepExecution',
    'Say that the agent is at work; half a minute of silence ends what it holds',
    { 200: answerPlain('Whether to stop.', Stop) },
    { failures: LOST },
  ),
  report: doc(
    'describeExecution',
    'Tell the version of the engine and how it is shut in',
    { 204: NOTHING },
    {
      consumes: JSON_TYPE,
      failures: LOST,
    },
  ),
  log: doc(
    'appendExecutionLog',
    'Add to the log; a repetition is dropped',
    { 204: NOTHING },
    {
      failures: {
        ...LOST,
        badRequest: 'The text is no UTF-8.',
        tooLarge: 'It is larger than 1 MiB.',
        unsupportedMediaType: 'It is no `text/plain`.',
      },
      upload: { description: 'Text.', mediaType: 'text/plain' },
      consumes: 'text/plain',
    },
  ),
  finish: doc(
    'finishExecution',
    'Tell how the phase ended',
    { 204: NOTHING },
    {
      consumes: JSON_TYPE,
      failures: LOST,
    },
  ),
}

export const wireRoutes: Routes = (app) => {
  app.register(async (scope) => {
    seal(scope as App)
    takeJson(scope as App)
    mountAgents(scope as App)
    mountWords(scope as App)
  })
  app.register(async (scope) => {
    seal(scope as App)
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('text/plain', { parseAs: 'buffer' }, (_request, text, done) =>
      done(null, text),
    )
    mountLog(scope as App)
  })
}

function mountAgents(app: App): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())

  app.post(
    AGENTS,
    { schema: { body: Registration }, config: { ...config, doc: docs.register } },
    async ({ ctx, body, ip }, reply) => {
      const { id } = await service.register(ctx, { ...body, ipAddress: ip })
      return reply.code(201).send({ id })
    },
  )

  app.delete(AGENT, { config: { ...config, doc: docs.leave } }, async ({ ctx, path }, reply) => {
    await service.leave(ctx, path.id)
    return reply.code(204).send()
  })

  app.post(`${AGENT}/claim`, { config: { ...config, doc: docs.claim } }, async (request, reply) => {
    const { ctx, path, ip } = request
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, closing.signal])
    const assignment = await service.claim(ctx, path.id, ip, signal)
    return assignment ? reply.send(assignment) : reply.code(204).send()
  })
}

function mountWords(app: App): void {
  app.post(
    `${EXECUTION}/heartbeat`,
    { config: { ...config, doc: docs.heartbeat } },
    async ({ ctx, path }) => ({ cancel: await service.heartbeat(ctx, path.id, path.execution_id) }),
  )

  app.post(
    `${EXECUTION}/report`,
    { schema: { body: Report }, config: { ...config, doc: docs.report } },
    async ({ ctx, path, body }, reply) => {
      await executions.report(ctx, await service.workerOf(ctx, path.id), path.execution_id, body)
      return reply.code(204).send()
    },
  )

  app.post(
    `${EXECUTION}/finish`,
    { schema: { body: Outcome }, config: { ...config, doc: docs.finish } },
    async ({ ctx, path, body }, reply) => {
      await service.finish(ctx, path.id, path.execution_id, body as PhaseOutcome)
      return reply.code(204).send()
    },
  )
}

function mountLog(app: App): void {
  app.post(
    `${EXECUTION}/log`,
    { schema: { querystring: LogQuery }, config: { ...config, doc: docs.log } },
    async ({ ctx, path, query, body }, reply) => {
      const text = textOf(body)
      const worker = await service.workerOf(ctx, path.id)
      await executions.appendLog(ctx, worker, path.execution_id, Number(query.start), text)
      return reply.code(204).send()
    },
  )
}

function textOf(body: unknown): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body as Buffer)
  } catch (error) {
    throw new AppError('badRequest', 'The text is no UTF-8.', { cause: error })
  }
}
