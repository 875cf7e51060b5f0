import { hostname } from 'node:os'
import type { Ctx } from '../../context.ts'
import { AppError, notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { isAlive } from '../../lib/processes.ts'
import type { Run } from '../runs/service.ts'
import * as runs from '../runs/service.ts'
import type { Execution } from './store.ts'
import * as store from './store.ts'

/** Who carries out runs: a worker of the server, or an agent. */
export interface Worker {
  /** Of the agent, or made up by the server for itself. */
  id: string
  /** The agent's; null for the server's own. */
  pool: { id: string; name: string } | null
  name: string
}

/**
 * Ends the request with 404 unless its subject is the worker: the server itself, or an agent of the pool. The first
 * statement of everything that workers call.
 */
export function authorizeWorker(ctx: Ctx, worker: Worker): void {
  ctx.request.authorized = true
  const { subject } = ctx
  if (subject?.kind === 'system' && !worker.pool) return
  if (subject?.kind === 'agent' && subject.id === worker.pool?.id) return
  throw notFound()
}

/** The execution that the worker holds. Throws 410 when it holds it no longer. */
export async function getHeld(ctx: Ctx, worker: Worker, id: string): Promise<Execution> {
  authorizeWorker(ctx, worker)
  const execution = await store.find(ctx.db, id)
  if (!execution || execution.workerId !== worker.id || execution.state !== 'running') throw lost()
  return execution
}

/** The same, and its run. */
export async function getHeldRun(
  ctx: Ctx,
  worker: Worker,
  id: string,
): Promise<{ execution: Execution; run: Run }> {
  const execution = await getHeld(ctx, worker, id)
  const run = await runs.find(ctx, execution.runId)
  if (!run) throw lost()
  return { execution, run }
}

export function lost(): AppError {
  return new AppError('gone', 'This execution has ended, or another worker has it.')
}

/** Several servers may run in one process, as in the tests. */
const workersOfThisProcess = new Set<string>()

/** The workers of a server. Its id tells other processes of this machine whether it can still be alive. */
export function newLocalWorker(): Worker {
  const id = `${hostname()}~${process.pid}~${newId('worker')}`
  workersOfThisProcess.add(id)
  return { id, pool: null, name: 'the server' }
}

/** Whether the worker was of a process of this machine that is no more. */
export function isGone(workerId: string): boolean {
  const [host, pid, ...rest] = workerId.split('~')
  if (host !== hostname() || rest.length === 0 || workersOfThisProcess.has(workerId)) return false
  // One of this process id that is not ours is of a process before: containers start with the same id.
  return Number(pid) === process.pid || !isAlive(Number(pid))
}
