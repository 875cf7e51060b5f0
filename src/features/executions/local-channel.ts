import { createReadStream } from 'node:fs'
import { BlobTooLarge } from '../../blobs/blob-store.ts'
import type { Ctx, Services } from '../../context.ts'
import { type Assignment, type Channel, LostExecution, StateRefused } from '../../engine/channel.ts'
import { AppError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import * as applies from '../applies/service.ts'
import { waitForBell } from './bell.ts'
import * as executions from './service.ts'
import { newLocalWorker } from './worker.ts'

/** How long a worker waits until it looks itself: another server may have queued something. */
const LOOK_MS = 1_000

/** What workers of the server use: calls in the same process. */
export function localChannel(services: Services): Channel {
  const worker = newLocalWorker()
  const context = (): Ctx => ({
    ...services,
    subject: { kind: 'system', id: worker.id },
    request: { id: newId('run'), authorized: false, access: new Map() },
  })
  return {
    async claim(signal) {
      const found = await executions.claim(context(), worker)
      if (!found && !signal.aborted) await waitForBell(LOOK_MS, signal)
      return found
    },
    heartbeat: (id) => held(executions.heartbeat(context(), worker, id)),
    report: (id, report) => held(executions.report(context(), worker, id, report)),
    appendLog: (id, start, text) => held(executions.appendLog(context(), worker, id, start, text)),
    fetch: (id, file) => held(executions.fetchFile(context(), worker, id, file)),
    async produce(id, file, path) {
      const staged = await stage(context(), path)
      await held(executions.produce(context(), worker, id, file, staged)).finally(staged.discard)
    },
    async saveState(id, path, jsonPath) {
      const ctx = context()
      const staged = await stage(ctx, path, ctx.config.maxStateBytes).catch((error: unknown) => {
        throw error instanceof BlobTooLarge ? new StateRefused(tooLarge(ctx)) : error
      })
      const stagedJson = jsonPath === undefined ? undefined : await stage(ctx, jsonPath)
      await held(executions.saveState(ctx, worker, id, staged, stagedJson))
        .catch(refuseState)
        .finally(() => Promise.all([staged.discard(), stagedJson?.discard()]))
    },
    keepErroredState: ({ applyId }: Assignment, path) =>
      applies.keepErroredState(context(), applyId, createReadStream(path)),
    finish: (id, outcome) => held(executions.finish(context(), worker, id, outcome)),
  }
}

function tooLarge(ctx: Ctx): string {
  return `The state is larger than ${ctx.config.maxStateBytes} bytes (PLINTH_MAX_STATE_BYTES).`
}

function stage(ctx: Ctx, path: string, maxBytes = Number.POSITIVE_INFINITY) {
  return ctx.sealed.stage(createReadStream(path), maxBytes)
}

/** What will be refused again the next time; the rest may pass. */
const FINAL = new Set(['conflict', 'preconditionFailed', 'tooLarge', 'invalid', 'unprocessable', 'notFound'])

function refuseState(error: unknown): never {
  if (error instanceof AppError && FINAL.has(error.code)) throw new StateRefused(error.message)
  throw error
}

async function held<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof AppError && error.code === 'gone') throw new LostExecution(error.message)
    throw error
  }
}
