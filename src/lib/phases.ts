/** What the public API calls the states of a plan; those of an apply are the same. */
export type PhaseStatus =
  | 'pending'
  | 'queued'
  | 'running'
  | 'finished'
  | 'errored'
  | 'canceled'
  | 'unreachable'

/** What is known of a plan and of an apply alike. */
export interface PhaseColumns {
  /** Set with the run's. */
  status: PhaseStatus
  /** JSON object of timestamps, such as `started-at`; set with the status. */
  statusTimestamps: string
  /** JSON object: `mode`, the agent's if it was one, and the sandbox. */
  executionDetails: string
  /** Counts are null until they are known. */
  resourceAdditions: number | null
  resourceChanges: number | null
  resourceDestructions: number | null
  resourceImports: number | null
  /** Why it errored, for people. */
  error: string | null
}
