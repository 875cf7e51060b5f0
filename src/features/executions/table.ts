import type { Immutable, Timestamp } from '../../db/columns.ts'

/** The carrying out of one phase of a run by a worker: the server's own, or an agent. */
export interface ExecutionTable {
  id: Immutable<string>
  organizationId: Immutable<string>
  workspaceId: Immutable<string>
  runId: Immutable<string>
  phase: Immutable<'plan' | 'apply'>
  /** The pool whose agents may take it; null for the server's own workers. */
  agentPoolId: Immutable<string | null>
  state: 'queued' | 'running' | 'ended'
  workerId: string | null
  /** The worker has to report before this. */
  leaseEndsAt: Timestamp | null
  /** Whether the worker is asked to stop: gently, or at once. */
  cancel: 'cancel' | 'force' | null
  queuedAt: Immutable<Timestamp>
  startedAt: Timestamp | null
  endedAt: Timestamp | null
}
