import type { PhaseStatus } from '../../lib/phases.ts'

/** Every state of a run that the public API documents. Those that end it are final: it never leaves them. */
export const RUN_STATES = {
  pending: { final: false },
  fetching: { final: false },
  fetching_completed: { final: false },
  queuing: { final: false },
  pre_plan_running: { final: false },
  pre_plan_completed: { final: false },
  plan_queued: { final: false },
  planning: { final: false },
  planned: { final: false },
  planned_and_saved: { final: false },
  post_plan_running: { final: false },
  post_plan_completed: { final: false },
  cost_estimating: { final: false },
  cost_estimated: { final: false },
  policy_checking: { final: false },
  policy_override: { final: false },
  policy_soft_failed: { final: true },
  policy_checked: { final: false },
  confirmed: { final: false },
  pre_apply_running: { final: false },
  pre_apply_completed: { final: false },
  queuing_apply: { final: false },
  apply_queued: { final: false },
  applying: { final: false },
  post_apply_running: { final: false },
  post_apply_completed: { final: false },
  planned_and_finished: { final: true },
  applied: { final: true },
  discarded: { final: true },
  errored: { final: true },
  canceled: { final: true },
  force_canceled: { final: true },
} as const

export type RunStatus = keyof typeof RUN_STATES

interface Step<Status> {
  from: readonly Status[]
  to: Status
}

/** What happens to a run, and where that takes it, its plan and its apply. */
interface Transition {
  run: Step<RunStatus>
  plan?: Step<PhaseStatus>
  apply?: Step<PhaseStatus>
}

const step = <Status extends string>(from: Status | readonly Status[], to: Status): Step<Status> => ({
  from: typeof from === 'string' ? [from] : from,
  to,
})

const neverApplied = step<PhaseStatus>('pending', 'unreachable')

/**
 * Every legal transition. Run, plan and apply move together or not at all; a state that none of these leaves is
 * final. Nothing else sets a status.
 */
export const TRANSITIONS = {
  /** The workspace is the run's, or the run does not need it. */
  queuePlan: { run: step('pending', 'plan_queued'), plan: step('pending', 'queued') },
  startPlan: { run: step('plan_queued', 'planning'), plan: step('queued', 'running') },
  /** There is something to confirm. */
  finishPlan: { run: step('planning', 'planned'), plan: step('running', 'finished') },
  savePlan: { run: step('planning', 'planned_and_saved'), plan: step('running', 'finished') },
  /** Nothing to apply, or not to be applied. */
  finishWithPlan: {
    run: step('planning', 'planned_and_finished'),
    plan: step('running', 'finished'),
    apply: neverApplied,
  },
  failPlan: {
    run: step(['plan_queued', 'planning'], 'errored'),
    plan: step(['queued', 'running'], 'errored'),
    apply: neverApplied,
  },
  /** A saved plan then waits for the workspace. */
  confirm: { run: step(['planned', 'planned_and_saved'], 'confirmed') },
  queueApply: { run: step('confirmed', 'apply_queued'), apply: step('pending', 'queued') },
  startApply: { run: step('apply_queued', 'applying'), apply: step('queued', 'running') },
  finishApply: { run: step('applying', 'applied'), apply: step('running', 'finished') },
  failApply: {
    run: step(['apply_queued', 'applying'], 'errored'),
    apply: step(['queued', 'running'], 'errored'),
  },
  discard: { run: step(['planned', 'planned_and_saved'], 'discarded'), apply: neverApplied },
  /** Discarded before it was planned: another run of the queue was forced to go first. */
  discardPending: {
    run: step('pending', 'discarded'),
    plan: step('pending', 'unreachable'),
    apply: neverApplied,
  },
  /** There will be no configuration. */
  failPending: {
    run: step('pending', 'errored'),
    plan: step('pending', 'unreachable'),
    apply: neverApplied,
  },
  cancelPending: {
    run: step('pending', 'canceled'),
    plan: step('pending', 'unreachable'),
    apply: neverApplied,
  },
  cancelPlan: {
    run: step(['plan_queued', 'planning'], 'canceled'),
    plan: step(['queued', 'running'], 'canceled'),
    apply: neverApplied,
  },
  cancelConfirmed: { run: step('confirmed', 'canceled'), apply: neverApplied },
  cancelApply: {
    run: step(['apply_queued', 'applying'], 'canceled'),
    apply: step(['queued', 'running'], 'canceled'),
  },
  forceCancelPlan: {
    run: step('planning', 'force_canceled'),
    plan: step('running', 'canceled'),
    apply: neverApplied,
  },
  forceCancelApply: { run: step('applying', 'force_canceled'), apply: step('running', 'canceled') },
} as const satisfies Record<string, Transition>

export type RunEvent = keyof typeof TRANSITIONS

/** Whether the event may happen to a run in this state. */
export function allows(event: RunEvent, status: RunStatus): boolean {
  return (TRANSITIONS[event].run.from as readonly RunStatus[]).includes(status)
}

/** Whether a run in this state can be given up. */
export function isDiscardable(status: RunStatus): boolean {
  return allows('discard', status) || allows('discardPending', status)
}

export function isFinal(status: RunStatus): boolean {
  return RUN_STATES[status].final
}

/** The states that are final, or are not. */
export function statesThat(final: boolean): RunStatus[] {
  return (Object.keys(RUN_STATES) as RunStatus[]).filter((status) => RUN_STATES[status].final === final)
}

/** What the moment of entering a state is called under `status-timestamps`. */
export function timestampOf(status: string): string {
  if (status === 'running') return 'started-at'
  return `${status.replaceAll('_', '-')}-at`
}
