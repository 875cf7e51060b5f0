import type { Violation } from '../../lib/errors.ts'
import { timestamp } from '../../lib/time.ts'
import { ownExecutionMode } from '../projects/service.ts'

/** What a caller may set of a workspace itself; what is absent stays as it is. */
export interface WorkspaceSettings {
  name?: string
  description?: string | null
  executionMode?: string
  /** The older form of the execution mode: whether runs are remote. */
  operations?: boolean
  /** False for the project's execution mode, true for the workspace's own. */
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

/** The columns that `settings` change, for a workspace whose execution mode is `mode`. */
export function toColumns(settings: WorkspaceSettings, mode: string) {
  const {
    executionMode,
    operations,
    overwritesExecutionMode,
    workingDirectory,
    triggerPrefixes: _prefixes,
    triggerPatterns: _patterns,
    autoDestroyAt,
    ...same
  } = settings
  const older = operations === undefined ? undefined : operations ? 'remote' : 'local'
  const own = ownExecutionMode(executionMode ?? older, overwritesExecutionMode, mode)
  const destroysItself = autoDestroyAt || settings.autoDestroyActivityDuration
  return {
    ...(destroysItself && { inheritsProjectAutoDestroy: false }),
    ...same,
    ...(own !== undefined && { executionMode: own }),
    ...(workingDirectory !== undefined && { workingDirectory: workingDirectory ?? '' }),
    ...triggerColumns(settings),
    ...(autoDestroyAt !== undefined && {
      autoDestroyAt: autoDestroyAt && timestamp(new Date(autoDestroyAt)),
    }),
  }
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
