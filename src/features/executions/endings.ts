import type { Ctx } from '../../context.ts'
import { afterCommit } from '../../db/transaction.ts'
import type { Outcome } from '../../engine/channel.ts'
import type { Run, RunEvent } from '../runs/service.ts'
import * as runs from '../runs/service.ts'
import * as tokens from '../tokens/service.ts'
import { ring } from './bell.ts'
import type { Execution } from './store.ts'
import * as store from './store.ts'

/** Ends a running execution, whose workspace the caller holds, and with it the phase; `lastWords` end the log. */
export async function conclude(
  tx: Ctx,
  execution: Execution,
  outcome: Outcome,
  lastWords?: string,
): Promise<void> {
  await store.end(tx.db, execution.id, ['running'], tx.now())
  await tokens.endOfRun(tx, execution.runId)
  await endPhase(tx, execution, outcome, lastWords)
  afterCommit(ring)
}

/** Takes the run where the outcome of a phase leads it. */
async function endPhase(tx: Ctx, execution: Execution, outcome: Outcome, lastWords?: string): Promise<void> {
  const run = await runs.find(tx, execution.runId)
  if (!run) return
  const details = { ...countsOf(outcome), error: outcome.error ?? null }
  const words = lastWords === undefined ? {} : { lastWords }
  if (execution.phase === 'apply') {
    await runs.advance(tx, run, applyEventOf(execution, outcome), { apply: details, ...words })
    return
  }
  const hasChanges = outcome.hasChanges === true
  const ended = await runs.advance(tx, run, planEventOf(execution, run, outcome), {
    run: { hasChanges },
    plan: { ...details, hasChanges, generatedConfiguration: outcome.generatedConfiguration === true },
    ...words,
  })
  if (ended.status === 'planned' && ended.autoApply) await runs.confirm(tx, ended)
}

function planEventOf({ cancel }: Execution, run: Run, { status, hasChanges }: Outcome): RunEvent {
  if (status === 'errored') return 'failPlan'
  if (status === 'canceled') return cancel === 'force' ? 'forceCancelPlan' : 'cancelPlan'
  if (run.planOnly || !(hasChanges || run.allowEmptyApply)) return 'finishWithPlan'
  return run.savePlan ? 'savePlan' : 'finishPlan'
}

function applyEventOf({ cancel }: Execution, { status }: Outcome): RunEvent {
  if (status === 'errored') return 'failApply'
  if (status === 'canceled') return cancel === 'force' ? 'forceCancelApply' : 'cancelApply'
  return 'finishApply'
}

function countsOf({ counts }: Outcome) {
  if (!counts) return {}
  return {
    resourceAdditions: counts.additions,
    resourceChanges: counts.changes,
    resourceDestructions: counts.destructions,
    resourceImports: counts.imports,
  }
}
