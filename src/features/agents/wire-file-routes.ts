import type { FastifyReply, FastifyRequest } from 'fastify'
import { takeBytes } from '../../http/bodies.ts'
import type { App, Routes } from '../../http/routes.ts'
import { answerFile, NOTHING } from '../../http/shown.ts'
import { stage } from '../../http/storage.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import * as executions from '../executions/service.ts'
import * as service from './service.ts'
import { splitAt } from './split.ts'
import { config, doc, EXECUTION, FETCHED, LOST, PRODUCED, StateQuery, seal } from './wire-schema.ts'

// The part of the agent protocol that carries files: configurations, plans and states, streamed.

const docs = {
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
}

export const wireFileRoutes: Routes = (app) => {
  app.register(async (scope) => {
    seal(scope as App)
    takeBytes(scope as App)
    mountFiles(scope as App)
  })
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
