import type { FastifyReply, FastifyRequest } from 'fastify'
import { authorizeAgent } from '../../auth/authorize.ts'
import type { Outcome as PhaseOutcome } from '../../engine/channel.ts'
import { JSON_TYPE, takeBytes, takeJson } from '../../http/bodies.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { answerFile, answerPlain, NOTHING } from '../../http/shown.ts'
import { stage } from '../../http/storage.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import * as executions from '../executions/service.ts'
import * as service from './service.ts'
import { splitAt } from './split.ts'
import {
  FETCHED,
  LogQuery,
  Outcome,
  PRODUCED,
  Registered,
  Registration,
  Report,
  ShownAssignment,
  StateQuery,
  Stop,
} from './wire-schema.ts'

const AGENTS = '/api/agent/v1/agents'
const AGENT = `${AGENTS}/:id`
const EXECUTION = `${AGENT}/executions/:execution_id`

const doc = documents(
  'Agent protocol',
  'What `plinth agent` and the server say to each other. Plain JSON; only the tokens of pools are taken.',
)

const LOST = { gone: 'The agent does not hold the execution any more.' }

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
  fetch: doc(
    'fetchExecutionFile',
    `Fetch a file: ${FETCHED.join(', ')}`,
    {
      200: answerFile('The file.', 'application/octet-stream'),
      204: { ...NOTHING, description: 'There is none.' },
    },
    { failures: LOST },
  ),
  produce: doc(
    'produceExecutionFile',
    `Hand over a file: ${PRODUCED.join(', ')}`,
    { 204: NOTHING },
    {
      failures: {
        ...LOST,
        badRequest: 'It ended early.',
        conflict: 'There is one with other contents.',
        tooLarge: 'It is larger than allowed.',
      },
      upload: { description: 'The file.', mediaType: 'application/octet-stream' },
    },
  ),
  state: doc(
    'saveExecutionState',
    'Make a state the workspace’s',
    { 204: NOTHING },
    {
      failures: {
        ...LOST,
        badRequest: 'It ended early.',
        conflict: 'It does not follow the workspace’s state.',
        preconditionFailed: 'It does not follow the workspace’s state.',
        tooLarge: 'It is larger than allowed.',
        invalid: 'It is no state.',
      },
      upload: { description: 'The raw state, then the same as JSON.', mediaType: 'application/octet-stream' },
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

const config = { agents: true, access: async (ctx: FastifyRequest['ctx']) => authorizeAgent(ctx) } as const

/** Each answer may hold what is secret, and none is of use later. */
function seal(app: App): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.type(JSON_TYPE).header('cache-control', 'no-store')
  })
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
    takeBytes(scope as App)
    mountFiles(scope as App)
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

function mountFiles(app: App): void {
  app.get(
    `${EXECUTION}/files/:name`,
    { config: { ...config, doc: docs.fetch }, exposeHeadRoute: false },
    async ({ ctx, path }, reply) => {
      const worker = await service.workerOf(ctx, path.id)
      const file = oneOf(FETCHED, path.name)
      const bytes = await executions.fetchFile(ctx, worker, path.execution_id, file)
      return bytes ? reply.type('application/octet-stream').send(bytes) : reply.code(204).send()
    },
  )

  app.put(
    `${EXECUTION}/files/:name`,
    { config: { ...config, largeBody: true, doc: docs.produce } },
    async (request, reply) => {
      await receiveFile(request)
      return reply.code(204).send()
    },
  )

  app.put(
    `${EXECUTION}/state`,
    { schema: { querystring: StateQuery }, config: { ...config, largeBody: true, doc: docs.state } },
    (request, reply) => receiveState(request, Number(request.query.raw), reply),
  )
}

async function receiveFile(request: FastifyRequest): Promise<void> {
  const { ctx, path } = request
  const worker = await service.workerOf(ctx, path.id)
  const file = oneOf(PRODUCED, path.name)
  const { maxUploadBytes } = ctx.config
  const staged = await stage(request, maxUploadBytes, () => ctx.sealed.stage(request.raw, maxUploadBytes))
  await executions.produce(ctx, worker, path.execution_id, file, staged).finally(staged.discard)
}

async function receiveState(request: FastifyRequest, rawBytes: number, reply: FastifyReply) {
  const { ctx, path } = request
  const worker = await service.workerOf(ctx, path.id)
  const { maxStateBytes } = ctx.config
  if (rawBytes > maxStateBytes) {
    const detail = `The state is larger than ${maxStateBytes} bytes (PLINTH_MAX_STATE_BYTES).`
    await stage(request, maxStateBytes, () => Promise.reject(new AppError('tooLarge', detail)))
  }
  const [raw, json] = splitAt(request.raw, rawBytes)
  const staged = await stage(request, maxStateBytes, () => ctx.sealed.stage(raw, rawBytes))
  try {
    const limit = Number.POSITIVE_INFINITY
    const stagedJson = await stage(request, limit, () => ctx.sealed.stage(json, limit))
    const given = stagedJson.size > 0 ? stagedJson : undefined
    await executions
      .saveState(ctx, worker, path.execution_id, staged, given)
      .finally(() => stagedJson.discard())
  } finally {
    await staged.discard()
  }
  return reply.code(204).send()
}

function oneOf<T extends string>(names: readonly T[], name: string): T {
  const known = names.find((each) => each === name)
  if (!known) throw notFound()
  return known
}
