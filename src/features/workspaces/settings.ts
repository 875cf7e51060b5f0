import type { Ctx } from '../../context.ts'
import type { Violation } from '../../lib/errors.ts'
import { timestamp } from '../../lib/time.ts'
import type { Execution } from '../agent-pools/service.ts'
import * as agentPools from '../agent-pools/service.ts'
import type { Workspace } from './store.ts'

/** What a caller may set of a workspace itself; what is absent stays as it is. */
export interface WorkspaceSettings {
  name?: string
  description?: string | null
  executionMode?: string
  /** The older form of the execution mode: whether runs are remote. */
  operations?: boolean
  /** The pool whose agents carry out its runs, with the mode `agent`; empty is none. */
  agentPoolId?: string | null
  /** False for the project's execution mode and pool, true for the workspace's own. */
  overwritesExecutionMode?: boolean | undefined
  terraformVersion?: string
  workingDirectory?: string | null
  autoApply?: boolean
  autoApplyRunTrigger?: boolean
  allowDestroyPlan?: boolean
  assessmentsEnabled?: boolean
  fileTriggersEnabled?: boolean
  globalRemoteState?: boolean
  projectRemoteState?: boolean
  queueAllRuns?: boolean
  speculativeEnabled?: boolean
  structuredRunOutputEnabled?: boolean
  triggerPrefixes?: string[] | null
  triggerPatterns?: string[] | null
  sourceName?: string | null
  sourceUrl?: string | null
  autoDestroyAt?: string | null
  autoDestroyActivityDuration?: string | null
  inheritsProjectAutoDestroy?: boolean
}

/** The columns that `settings` change, except for where runs take place. */
export function toColumns(settings: WorkspaceSettings) {
  const {
    executionMode: _mode,
    operations: _operations,
    overwritesExecutionMode: _overwrites,
    agentPoolId: _pool,
    workingDirectory,
    triggerPrefixes: _prefixes,
    triggerPatterns: _patterns,
    autoDestroyAt,
    ...same
  } = settings
  const destroysItself = autoDestroyAt || settings.autoDestroyActivityDuration
  return {
    ...(destroysItself && { inheritsProjectAutoDestroy: false }),
    ...same,
    ...(workingDirectory !== undefined && { workingDirectory: workingDirectory ?? '' }),
    ...triggerColumns(settings),
    ...(autoDestroyAt !== undefined && {
      autoDestroyAt: autoDestroyAt && timestamp(new Date(autoDestroyAt)),
    }),
  }
}

/**
 * The columns that `settings` change of where runs take place. `before` is the workspace as it is, if it is;
 * `projectId` is where it will be.
 */
export async function chooseExecution(
  tx: Ctx,
  settings: WorkspaceSettings,
  organizationId: string,
  { projectId, inherited, before }: { projectId: string; inherited: Execution; before?: Workspace },
) {
  const { executionMode, operations, overwritesExecutionMode: overwrites, agentPoolId: poolId } = settings
  const older = operations === undefined ? undefined : operations ? 'remote' : 'local'
  const choice = {
    mode: executionMode ?? older,
    overwrites,
    poolId,
    pointer: '/data/attributes/agent-pool-id',
    moved: before !== undefined && before.projectId !== projectId,
  }
  const { executionMode: mode = null, agentPoolId = null } = before ?? {}
  const chosen = await agentPools.chooseExecution(tx, organizationId, choice, {
    own: mode === null ? null : { mode, poolId: agentPoolId },
    inherited,
    target: { projectId, workspaceId: before?.id },
  })
  return chosen === undefined
    ? {}
    : { executionMode: chosen?.mode ?? null, agentPoolId: chosen?.poolId ?? null }
}

/** Only one of both is in force: setting one clears the other, which some clients cannot send empty. */
function triggerColumns({ triggerPrefixes: prefixes, triggerPatterns: patterns }: WorkspaceSettings) {
  return {
    ...((prefixes !== undefined || patterns?.length) && { triggerPrefixes: JSON.stringify(prefixes ?? []) }),
    ...((patterns !== undefined || prefixes?.length) && { triggerPatterns: JSON.stringify(patterns ?? []) }),
  }
}

/** What is wrong with `settings` that no single attribute shows. */
export function violationsOf(settings: WorkspaceSettings): Violation[] {
  const { triggerPrefixes, triggerPatterns, autoDestroyAt } = settings
  const violations: Violation[] = []
  if (triggerPrefixes?.length && triggerPatterns?.length) {
    violations.push({
      detail: 'Trigger patterns cannot be set together with trigger prefixes',
      pointer: '/data/attributes/trigger-patterns',
    })
  }
  if (autoDestroyAt && !isMoment(autoDestroyAt)) {
    violations.push({
      detail: 'Auto destroy at is invalid: a time in ISO 8601',
      pointer: '/data/attributes/auto-destroy-at',
    })
  }
  return violations
}

/** Date.parse alone would take a bare number, and a time without its zone. */
function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
}
